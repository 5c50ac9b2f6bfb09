/**
 * A run, or two compared, as one HTML file that needs no server and no network. Records are streamed with one block of each
 * kind in memory, so any number of cases fits. The file appears only when complete.
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
  /** In the page's order. */
  records: Iterable<CaseRecord> | AsyncIterable<CaseRecord>;
  /** A prompt's stable part by hash; undefined where it was not kept, which the page reports. */
  promptText: (hash: string) => string | undefined;
}

interface ReportParts extends ReportedRun {
  /** An earlier run to show beside this one, case by case. */
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

/** Packs whole cases, their list rows and each stable part, once, into separate blocks. */
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

/** Size of a block: opening one takes the browser a few milliseconds, yet gzip still pays. */
const BLOCK_CHARACTERS = 256 * 1024;

/** Packs JSON lines as gzip in base64 inside an inert script element; base64 has no `<` that could end it. */
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
    /** Returns the lines since the last call as an element; empty where there are none. */
    async take(): Promise<string> {
      if (lines.length === 0) return '';
      const text = lines.join('\n');
      [block, lines, characters] = [block + 1, [], 0];
      return `<script type="text/plain" data-block="${kind}">${(await compress(text)).toString('base64')}</script>\n`;
    },
  };
}

/** Escapes `<`, so that no text ends the element; `JSON.parse` reads the same value. */
function embedJson(data: ReportData): string {
  return `<script type="application/json" id="data">${JSON.stringify(data).replaceAll('<', '\\u003c')}</script>\n`;
}

/** Only errors of the file itself name a system call; any other is returned unchanged. */
export function toWriteError(error: unknown, out?: string): unknown {
  const { syscall, code, path } = Object(error);
  if (syscall === undefined || code === undefined) return error;
  const message = `"${out ?? path}" can't be written (${code}). Give a path in a folder that exists and can be written to.`;
  return new WinnowError('invalid_option', message, { cause: error });
}
