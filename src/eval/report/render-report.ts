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
  type ReportBlocks,
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

export interface ReportParts extends ReportedRun {
  /** An earlier run to show beside this one, case by case. */
  before?: ReportedRun & { comparison: ReportComparison };
}

const runsOf = ({ before, ...last }: ReportParts): readonly ReportedRun[] => (before ? [before, last] : [last]);

/** @param out path of the file to write. @throws WinnowError `invalid_option` when the file cannot be written. */
export async function renderReport({ out, ...parts }: ReportParts & { out: string }): Promise<void> {
  const title = runsOf(parts)
    .map(({ run }) => run.name)
    .join(' and ');
  const page = await readPageParts(`${title} · Winnow evaluation`);
  const unfinished = `${out}.unfinished`;
  async function* pieces(): AsyncGenerator<string> {
    yield page.head;
    yield embedJson(toData(parts));
    for await (const { kind, text } of packRecords(parts))
      yield `<script type="text/plain" data-block="${kind}">${text}</script>\n`;
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

export function toData(parts: ReportParts): ReportData {
  return { runs: runsOf(parts).map(({ run }) => run), ...(parts.before && { comparison: parts.before.comparison }) };
}

/** Lines of JSON, as gzip in base64, which has no `<` that could end an element. */
interface Block {
  readonly kind: keyof ReportBlocks;
  readonly text: string;
}

/** Packs whole cases, their list rows and each stable part, once, into separate blocks. */
export async function* packRecords(parts: ReportParts): AsyncGenerator<Block> {
  const [cases, rows, prompts] = [createPacker('cases'), createPacker('rows'), createPacker('prompts')];
  const promptPlaces = new Map<string, Place | null>();
  for (const [number, { records, promptText }] of runsOf(parts).entries()) {
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
      for (const packer of [cases, rows, prompts]) if (packer.isFull) yield* packer.take();
    }
  }
  for (const packer of [cases, rows, prompts]) yield* packer.take();
}

const compress = promisify(gzip);

/** Size of a block: opening one takes the browser a few milliseconds, yet gzip still pays. */
const BLOCK_CHARACTERS = 256 * 1024;

function createPacker(kind: Block['kind']) {
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
    /** The lines since the last call; nothing where there are none. */
    async *take(): AsyncGenerator<Block> {
      if (lines.length === 0) return;
      const text = lines.join('\n');
      [block, lines, characters] = [block + 1, [], 0];
      yield { kind, text: (await compress(text)).toString('base64') };
    },
  };
}

/** Escapes `<`, so that no text ends the element; `JSON.parse` reads the same value. */
function embedJson(data: ReportData): string {
  return `<script type="application/json" id="data">${JSON.stringify(data).replaceAll('<', '\\u003c')}</script>\n`;
}

/** Only errors of the file itself name a system call; any other is returned unchanged. */
export function toWriteError(error: unknown, out: string): unknown {
  const { syscall, code } = Object(error);
  if (syscall === undefined || code === undefined) return error;
  const message = `"${out}" can't be written (${code}). Give a path in a folder that exists and can be written to.`;
  return new WinnowError('invalid_option', message, { cause: error });
}
