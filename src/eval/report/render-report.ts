/**
 * A run, or two compared, as one HTML file that needs no server and no network. Records pass through one by one: only
 * one block of each kind is in memory, so the number of cases does not matter. The file appears when it is whole.
 */
import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { WinnowError } from '../../core/errors.js';
import type { CaseRecord } from '../record.js';
import { bestSet } from '../selection-scores.js';
import { toolSets } from '../variants.js';
import { readPageParts } from './page-parts.js';
import {
  type Place,
  type ReportComparison,
  type ReportData,
  type ReportRun,
  toRow,
  type WholeCase,
} from './report-data.js';
import { showPlan } from './show-plan.js';

export interface ReportedRun {
  run: ReportRun;
  /** In the order in which the page lists them. */
  records: Iterable<CaseRecord> | AsyncIterable<CaseRecord>;
  /** The stable part of a prompt by its hash; undefined where it was not kept: the page then says so. */
  promptText: (hash: string) => string | undefined;
}

export interface ReportParts extends ReportedRun {
  /** The run before, which the page shows beside this one, case by case. */
  before?: ReportedRun & { comparison: ReportComparison };
  /** Path of the file to write. */
  out: string;
}

/** @throws WinnowError `invalid_option` when the file cannot be written. */
export async function renderReport({ before, out, ...last }: ReportParts): Promise<void> {
  const reported = before ? [before, last] : [last];
  const title = reported.map(({ run }) => run.name).join(' and ');
  const page = await readPageParts(`${title} · Winnow evaluation`);
  const unfinished = `${out}.unfinished`;
  async function* pieces(): AsyncGenerator<string> {
    yield page.head;
    yield embedJson({ runs: reported.map(({ run }) => run), ...(before && { comparison: before.comparison }) });
    yield* renderBlocks(reported);
    yield page.tail;
  }
  try {
    await pipeline(Readable.from(pieces()), createWriteStream(unfinished));
    await rename(unfinished, out);
  } catch (error) {
    await rm(unfinished, { force: true });
    throw toWriteError(error, out);
  }
}

/** A case goes into a block of cases, what the list needs of it into one of rows, each stable part once. */
async function* renderBlocks(reported: readonly ReportedRun[]): AsyncGenerator<string> {
  const [cases, rows, prompts] = [createPacker('cases'), createPacker('rows'), createPacker('prompts')];
  const promptPlaces = new Map<string, Place | null>();
  for (const [number, { records, promptText }] of reported.entries()) {
    for await (const record of records) {
      for (const { system } of record.calls) {
        if (promptPlaces.get(system)) continue;
        const text = promptText(system);
        promptPlaces.set(system, text === undefined ? null : prompts.add(text));
      }
      const whole: WholeCase = {
        record,
        plan: showPlan(record),
        needed: bestSet(toolSets(record.expected), record.selection?.tools.map(({ name }) => name) ?? []),
        prompts: record.calls.map(({ system }) => promptPlaces.get(system) ?? null),
      };
      rows.add(toRow(record, number, cases.add(whole)));
      for (const packer of [cases, rows, prompts]) if (packer.isFull) yield await packer.take();
    }
  }
  for (const packer of [cases, rows, prompts]) yield await packer.take();
}

const compress = promisify(gzip);

/** What opening one case reads: a few milliseconds in the browser, yet large enough for gzip to pay. */
const BLOCK_CHARACTERS = 256 * 1024;

/** Lines of JSON, gzip in base64, within a script element that no browser runs: base64 has no `<` that could end it. */
function createPacker(kind: 'cases' | 'rows' | 'prompts') {
  let block = 0;
  let lines: string[] = [];
  let characters = 0;
  return {
    add(value: unknown): Place {
      const line = JSON.stringify(value);
      characters += line.length;
      return [block, lines.push(line) - 1];
    },
    get isFull() {
      return characters >= BLOCK_CHARACTERS;
    },
    /** The lines since the last call as an element of the page; empty where there are none. */
    async take(): Promise<string> {
      if (lines.length === 0) return '';
      const text = lines.join('\n');
      [block, lines, characters] = [block + 1, [], 0];
      return `<script type="text/plain" data-block="${kind}">${(await compress(text)).toString('base64')}</script>\n`;
    },
  };
}

/** Without a `<` in any text no text ends the element; `JSON.parse` reads the same value. */
function embedJson(data: ReportData): string {
  return `<script type="application/json" id="data">${JSON.stringify(data).replaceAll('<', '\\u003c')}</script>\n`;
}

/** An error of the file itself names the system call that failed; any other is the caller's own. */
export function toWriteError(error: unknown, out?: string): unknown {
  const { syscall, code, path } = Object(error);
  if (syscall === undefined || code === undefined) return error;
  const message = `"${out ?? path}" can't be written (${code}). Give a path in a folder that exists and can be written to.`;
  return new WinnowError('invalid_option', message, { cause: error });
}
