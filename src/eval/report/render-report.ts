/**
 * A run as one HTML file that needs no server and no network. Records pass through one by one: only one block of each
 * kind is in memory, so the number of cases does not matter. The file appears when it is whole.
 */
import { createWriteStream } from 'node:fs';
import { rename, rm, stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { WinnowError } from '../../core/errors.js';
import type { CaseRecord } from '../record.js';
import { createIndexBuilder } from './case-index.js';
import { createLinePacker } from './packed-lines.js';
import { embedJson, readPageParts } from './page-parts.js';
import type { ReportRun } from './report-run.js';
import { compareRecord, showPlan } from './show-plan.js';
import type { WholeCase } from './whole-case.js';

export interface ReportParts {
  run: ReportRun;
  /** In the order in which the page lists them. */
  records: Iterable<CaseRecord> | AsyncIterable<CaseRecord>;
  /** The stable part of a prompt by its hash; undefined where it was not kept: the page then says so. */
  promptText: (hash: string) => string | undefined | Promise<string | undefined>;
  /** Path of the file to write. */
  out: string;
}

export interface ReportFacts {
  /** Records written. */
  records: number;
  bytes: number;
}

/** Rows of the list in one block. */
const INDEX_ROWS = 2_000;

/** @throws WinnowError `invalid_option` when the file cannot be written. */
export async function renderReport(parts: ReportParts): Promise<ReportFacts> {
  const { run } = parts;
  const page = await readPageParts({ title: `${run.name} · Winnow evaluation` });
  const facts = { records: 0 };
  const unfinished = `${parts.out}.unfinished`;
  async function* pieces(): AsyncGenerator<string> {
    yield page.head;
    yield embedJson('run-data', run);
    yield* renderBlocks(parts, facts);
    yield page.tail;
  }
  try {
    await pipeline(Readable.from(pieces()), createWriteStream(unfinished));
    await rename(unfinished, parts.out);
  } catch (error) {
    await rm(unfinished, { force: true });
    throw toWriteError(error, parts.out);
  }
  return { ...facts, bytes: (await stat(parts.out)).size };
}

/** A case goes into a block of cases, what the list needs of it into one of the index, each stable part once. */
async function* renderBlocks(
  { run, records, promptText }: Pick<ReportParts, 'run' | 'records' | 'promptText'>,
  facts: { records: number },
): AsyncGenerator<string> {
  const cases = createLinePacker('cases');
  const prompts = createLinePacker('prompts');
  const index = createLinePacker('index');
  const builder = createIndexBuilder();
  const promptPlaces = new Map<string, [number, number] | null>();
  const options = { ignoreCase: run.settings.ignoreCase === true };
  for await (const one of records) {
    const record = compareRecord(one, options);
    facts.records += 1;
    for (const { system } of record.calls) {
      if (promptPlaces.has(system)) continue;
      const text = await promptText(system);
      promptPlaces.set(system, text === undefined ? null : prompts.add(text));
      if (prompts.isFull) yield await prompts.take();
    }
    const line: WholeCase = {
      record,
      plan: showPlan(record),
      prompts: record.calls.map(({ system }) => promptPlaces.get(system) ?? null),
    };
    builder.add(record, cases.add(line));
    if (cases.isFull) yield await cases.take();
    if (builder.size === INDEX_ROWS) {
      index.add(builder.take());
      yield await index.take();
    }
  }
  index.add(builder.take());
  for (const packer of [cases, prompts, index]) yield await packer.take();
}

/** An error of the file itself names the system call that failed; any other is the caller's own. */
function toWriteError(error: unknown, out: string): unknown {
  if (typeof error !== 'object' || error === null || !('syscall' in error) || !('code' in error)) return error;
  const message = `The report "${out}" cannot be written (${error.code}). Give a path in a folder that exists and can be written to.`;
  return new WinnowError('invalid_option', message, { cause: error });
}
