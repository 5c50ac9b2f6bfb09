/**
 * Keys and values in a file that only grows, one JSON line each; the latest line of a key counts. Several processes may
 * append at once, and see each other's lines: a line goes out in one write and begins with a line break of its own, so
 * one that was cut by a kill spoils nothing else. In memory are only the keys, and where their lines begin.
 */
import { closeSync, fstatSync, mkdirSync, openSync, readSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { WinnowError } from '../../../src/core/errors.js';

export interface AppendStore {
  /** Undefined where the key is not known, or its line can't be read. */
  get(key: string): unknown;
  /** @throws WinnowError `invalid_option` when the file can't be written, for example on a full disk. */
  put(key: string, value: unknown): void;
  close(): void;
}

const CHUNK_BYTES = 1 << 20;
/** Holds most values whole. */
const LINE_BYTES = 1 << 12;
const LINE_BREAK = 0x0a;
const KEY_LINE = /^\{"key":"([^"]+)","value":/u;

/** @throws WinnowError `invalid_option` when the file can't be opened. */
export function openAppendStore(path: string): AppendStore {
  const file = openFile(path);
  const starts = new Map<string, number>();
  let scanned = 0;

  /** Reads what was appended since, by whomever; a last line without its end is left for later. */
  const refresh = (): void => {
    const size = fstatSync(file).size;
    while (scanned < size) {
      const whole = readWholeLines(file, scanned, size);
      if (whole.length === 0) return;
      for (const { key, start } of linesIn(whole, scanned)) starts.set(key, start);
      scanned += whole.length;
    }
  };

  return {
    get(key) {
      if (!starts.has(key)) refresh();
      const start = starts.get(key);
      return start === undefined ? undefined : valueIn(readLine(file, start), key);
    },
    put(key, value) {
      const line = Buffer.from(`\n${JSON.stringify({ key, value })}\n`);
      if (writeSync(file, line) === line.length) return;
      throw new WinnowError('invalid_option', `${path} can't be written whole: is the disk full?`);
    },
    close: () => closeSync(file),
  };
}

function openFile(path: string): number {
  try {
    mkdirSync(dirname(path), { recursive: true });
    return openSync(path, 'a+', 0o600);
  } catch (cause) {
    throw new WinnowError('invalid_option', `${path} can't be opened for writing.`, { cause });
  }
}

/** From `start` to the last line break within a chunk; more than a chunk where one line is longer. */
function readWholeLines(file: number, start: number, end: number): Buffer {
  for (let length = CHUNK_BYTES; ; length *= 2) {
    const bytes = readBytes(file, start, Math.min(length, end - start));
    const last = bytes.lastIndexOf(LINE_BREAK);
    if (last >= 0 || length >= end - start) return bytes.subarray(0, last + 1);
  }
}

/** From `start` to the next line break. */
function readLine(file: number, start: number): Buffer {
  for (let length = LINE_BYTES; ; length *= 2) {
    const bytes = readBytes(file, start, length);
    const end = bytes.indexOf(LINE_BREAK);
    if (end >= 0 || bytes.length < length) return end < 0 ? bytes : bytes.subarray(0, end);
  }
}

function readBytes(file: number, start: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  const read = readSync(file, bytes, 0, length, start);
  return bytes.subarray(0, read);
}

function linesIn(bytes: Buffer, offset: number): { key: string; start: number }[] {
  const found: { key: string; start: number }[] = [];
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(LINE_BREAK, start);
    const [, key] = KEY_LINE.exec(bytes.toString('utf8', start, Math.min(end, start + 200))) ?? [];
    if (key !== undefined && bytes[end - 1] === 0x7d) found.push({ key, start: offset + start });
    start = end + 1;
  }
  return found;
}

function valueIn(line: Buffer, key: string): unknown {
  try {
    const parsed: unknown = JSON.parse(line.toString('utf8'));
    const isOurs =
      typeof parsed === 'object' && parsed !== null && 'value' in parsed && Reflect.get(parsed, 'key') === key;
    return isOurs ? parsed.value : undefined;
  } catch {
    return undefined;
  }
}
