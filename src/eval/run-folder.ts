/**
 * A run on the disk. `cases.jsonl` only grows, by one whole line a finished case and repeat, so a kill at any moment
 * loses nothing that was done, and a power loss at most the last second: a last line that was cut is taken off when the
 * run goes on.
 */
import { createReadStream, createWriteStream, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { WinnowError } from '../core/errors.js';
import { parse, parseAs } from '../core/parse.js';
import { openDurableFile } from './durable-file.js';
import { linesOf } from './lines.js';
import { type CaseRecord, caseRecordSchema } from './record.js';
import { putInPlace, replaceFile } from './replace-file.js';
import { type RunSummary, runSummarySchema } from './run-summary.js';

export interface RunFolder {
  readonly path: string;
  isDone(id: string, repeat: number): boolean;
  /** How many cases and repeats are done. */
  done(): number;
  /** @throws WinnowError `internal` for a case and repeat that is there already; `invalid_option` when the disk is full */
  append(record: CaseRecord): void;
  /** When the records appended so far survive a power loss, as far as the system can tell. */
  synced(): Promise<void>;
  /** The stable part of a prompt, once each. */
  keepPrompt(hash: string, text: string): void;
  writeSummary(summary: RunSummary): void;
  close(): void;
}

const CASES = 'cases.jsonl';
const SUMMARY = 'run.json';
const PROMPTS = 'prompts';

export const keyOf = (id: string, repeat: number) => `${repeat} ${id}`;

export interface OpenOptions {
  /** Cases that ended with an error of the server are taken out, and done again. */
  retryErrors?: boolean | undefined;
  /** Told of every record that an earlier process left. */
  onKept?: ((record: CaseRecord) => void) | undefined;
}

/**
 * Makes the folder, or goes on where an earlier process stopped. One process at a time: the caller holds the lock.
 * @throws WinnowError `invalid_option` when it can't be written; `invalid_request` for a line that is no record
 */
export async function openRunFolder(
  path: string,
  { retryErrors = false, onKept = () => undefined }: OpenOptions = {},
): Promise<RunFolder> {
  const file = join(path, CASES);
  const done = new Set<string>();
  const prompts = new Set<string>();
  makeFolder(join(path, PROMPTS));
  if (existsSync(file)) {
    await cutTornLine(file);
    if (retryErrors) await takeErrorsOut(path);
    for await (const record of readRecords(path)) {
      done.add(keyOf(record.id, record.repeat));
      onKept(record);
    }
  }
  const lines = openDurableFile(file);
  return {
    path,
    isDone: (id, repeat) => done.has(keyOf(id, repeat)),
    done: () => done.size,
    append(record) {
      const key = keyOf(record.id, record.repeat);
      if (done.has(key))
        throw new WinnowError('internal', `The case ${record.id}, repeat ${record.repeat}, is done already.`);
      lines.append(`${JSON.stringify(record)}\n`);
      done.add(key);
    },
    synced: lines.synced,
    keepPrompt(hash, text) {
      if (prompts.has(hash)) return;
      prompts.add(hash);
      const target = promptPath(path, hash);
      if (!existsSync(target)) replaceFile(target, text);
    },
    writeSummary: (summary) => replaceFile(join(path, SUMMARY), `${JSON.stringify(summary, null, 2)}\n`),
    close: lines.close,
  };
}

function makeFolder(path: string): void {
  try {
    mkdirSync(path, { recursive: true });
  } catch (cause) {
    throw new WinnowError('invalid_option', `The folder of the run can't be made: ${path}.`, { cause });
  }
}

const BLOCK_BYTES = 1 << 16;
const LINE_BREAK = 0x0a;

/** After a power loss a file may end in zeros that were never written: no line of JSON holds one. */
async function cutTornLine(file: string): Promise<void> {
  const handle = await open(file, 'r+');
  try {
    const { size } = await handle.stat();
    let kept = 0;
    for (let end = size; end > 0 && kept === 0; end -= BLOCK_BYTES) {
      const start = Math.max(0, end - BLOCK_BYTES);
      const block = Buffer.alloc(end - start);
      await handle.read(block, 0, block.length, start);
      const zero = block.indexOf(0);
      const last = (zero < 0 ? block : block.subarray(0, zero)).lastIndexOf(LINE_BREAK);
      if (last >= 0) kept = start + last + 1;
    }
    if (kept < size) await handle.truncate(kept);
  } finally {
    await handle.close();
  }
}

async function takeErrorsOut(path: string): Promise<void> {
  const file = join(path, CASES);
  async function* kept(): AsyncGenerator<string> {
    for await (const record of readRecords(path)) {
      if (record.outcome !== 'error') yield `${JSON.stringify(record)}\n`;
    }
  }
  await pipeline(Readable.from(kept()), createWriteStream(`${file}.unfinished`));
  putInPlace(`${file}.unfinished`, file);
}

/** In the order in which they ended. @throws WinnowError `not_found`, `invalid_request` naming file, line and field */
export async function* readRecords(path: string): AsyncGenerator<CaseRecord> {
  const file = join(path, CASES);
  for await (const { text, line } of linesOf(file)) {
    const parsed = parse(caseRecordSchema, parseJson(text), { root: 'line' });
    if (!parsed.ok) {
      const message = `${file}:${line} is no record of a case (${parsed.issues[0]}).`;
      throw new WinnowError('invalid_request', message, { issues: parsed.issues });
    }
    yield parsed.value;
  }
}

/** @throws WinnowError `not_found` where there is no run, `invalid_request` for another form */
export function readSummary(path: string): RunSummary {
  const file = join(path, SUMMARY);
  if (!existsSync(file)) throw new WinnowError('not_found', `There is no run in ${path}: it has no ${SUMMARY}.`);
  const problem = `${file} is not the summary of a run`;
  return parseAs(runSummarySchema, parseJson(readFileSync(file, 'utf8')), { code: 'invalid_request', problem });
}

/** How many whole lines there are: also those of a process that was killed and wrote no summary of them. */
export async function countRecords(path: string): Promise<number> {
  const file = join(path, CASES);
  let count = 0;
  if (!existsSync(file)) return count;
  for await (const block of createReadStream(file)) {
    for (let at = block.indexOf(LINE_BREAK); at >= 0; at = block.indexOf(LINE_BREAK, at + 1)) count += 1;
  }
  return count;
}

export function hasRun(path: string): boolean {
  return existsSync(join(path, SUMMARY)) || existsSync(join(path, CASES));
}

/** Undefined where it was not kept. */
export async function readPrompt(path: string, hash: string): Promise<string | undefined> {
  const file = promptPath(path, hash);
  return existsSync(file) ? readFile(file, 'utf8') : undefined;
}

function promptPath(path: string, hash: string): string {
  return join(path, PROMPTS, `${hash.replace(/[^\w-]/gu, '_')}.txt`);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
