/**
 * What was read of prompts without a request, on disk beside the prefixes: a new process reads none of them again. Lines are
 * appended, each a key and its value; one that is broken counts for nothing.
 */
import { createHash } from 'node:crypto';
import { appendFileSync, mkdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { keepLatest } from '../../kept.js';
import type { Readings } from '../model.js';
import { parseJson } from '../structured.js';

const MAX_KEPT = 5000;
/** About 15,000 readings; a file that has grown beyond is begun anew. */
const MAX_BYTES = 4 * 1024 ** 2;

/** @param identity whatever makes a reading another one when it changes: model file, context size, version of the runtime */
export function createReadingStore({ folder, identity }: { folder: string; identity: string }): Readings {
  const name = createHash('sha256').update(identity).digest('hex').slice(0, 32);
  const file = join(folder, `${name}.readings`);
  let kept: Map<string, unknown> | undefined;
  /** Read at the first question: who plans otherwise needs none of it. */
  const all = () => {
    kept ??= new Map(readLines(file));
    return kept;
  };
  return {
    get: (key) => all().get(key),
    set(key, value) {
      keepLatest(all(), [key, value], MAX_KEPT);
      try {
        mkdirSync(folder, { recursive: true });
        appendFileSync(file, `${JSON.stringify([key, value])}\n`, { mode: 0o600 });
      } catch {
        // The disk refuses: what is in memory serves this process.
      }
    },
  };
}

function readLines(file: string): [string, unknown][] {
  try {
    if (statSync(file).size > MAX_BYTES) rmSync(file);
    const lines = readFileSync(file, 'utf8').split('\n').map(parseJson);
    return lines.flatMap((line): [string, unknown][] => (isEntry(line) ? [line] : [])).slice(-MAX_KEPT);
  } catch {
    return [];
  }
}

function isEntry(line: unknown): line is [string, unknown] {
  return Array.isArray(line) && line.length === 2 && typeof line[0] === 'string' && line[1] !== null;
}
