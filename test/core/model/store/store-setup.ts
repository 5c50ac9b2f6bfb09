/** What every test of the store needs: a small model, an empty folder, a scripted hub and a Python that fetches pieces. */
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { WinnowError } from '../../../../src/core/errors.js';
import type { EnsureModelOptions } from '../../../../src/core/model/store/model-file.js';
import type { ModelEntry, RunPython } from '../../../../src/core/model/store/sources.js';

export const PIECE_BYTES = 40_000;
/** Five pieces, the last one shorter; no two places look the same. */
export const CONTENT = Buffer.from(Uint32Array.from({ length: 45_000 }, (_, index) => index * 2_654_435_761).buffer);
export const CONTENT_HASH = sha256(CONTENT);
export const FILE = 'small.gguf';
export const PACKAGES = 'Python packages small-model-part1 to 5';

export function sha256(content: Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}

/** Hashes are compared since a matcher on two large buffers takes half a second. */
export async function fileHash(path: string): Promise<string> {
  return sha256(await readFile(path));
}

export function smallModel(hub: string): ModelEntry {
  return {
    name: 'small',
    file: FILE,
    bytes: CONTENT.length,
    sha256: CONTENT_HASH,
    licence: 'Apache-2.0',
    hub,
    pieces: { prefix: 'small-model-part', version: '1.2.3', bytes: PIECE_BYTES },
  };
}

export interface FakePython {
  run: RunPython;
  /** `name==version`, in the order of the calls. */
  calls: string[];
}

/**
 * Stands in for pip and for the module that unpacks wheels. `before` may throw in place of a download; `pieceOf` gives
 * the path and the content of a package's file.
 */
export function createFakePython(
  before: (piece: number) => void = () => undefined,
  pieceOf: (piece: number) => { path: string; bytes: Buffer } = goodPiece,
): FakePython {
  const calls: string[] = [];
  return {
    calls,
    async run(args, signal) {
      const last = args.at(-1) ?? '';
      if (args[1] === 'pip') {
        calls.push(last);
        before(numberOf(last));
        signal?.throwIfAborted();
        await writeFile(join(args.at(-2) ?? '', `${last.replace('==', '-')}-py3-none-any.whl`), last);
      } else {
        const { path, bytes } = pieceOf(numberOf(await readFile(args.at(-2) ?? '', 'utf8')));
        await mkdir(dirname(join(last, path)), { recursive: true });
        await writeFile(join(last, path), bytes);
      }
    },
  };
}

function goodPiece(piece: number) {
  const bytes = CONTENT.subarray((piece - 1) * PIECE_BYTES, piece * PIECE_BYTES);
  return { path: `small_model_part${piece}/data/part0${piece}.bin`, bytes };
}

function numberOf(packageName: string): number {
  return Number(/part(\d+)==/u.exec(packageName)?.[1]);
}

export interface Setup {
  folder: string;
  path: string;
  hub: Hub;
  notices: string[];
  /** With packages that fail; a test overrides what it is about. */
  options: EnsureModelOptions & { folder: string; model: ModelEntry };
  close(): Promise<void>;
}

export async function setUp(steps: readonly HubStep[] = []): Promise<Setup> {
  const folder = await mkdtemp(join(tmpdir(), 'winnow-store-'));
  const hub = await startHub(CONTENT, steps);
  const notices: string[] = [];
  return {
    folder,
    path: join(folder, FILE),
    hub,
    notices,
    options: {
      folder,
      model: smallModel(hub.url),
      runPython: () => Promise.reject(new Error('no packages')),
      onNotice: (notice) => notices.push(notice),
      stallTimeoutInMs: 5_000,
    },
    async close() {
      await hub.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** What a promise is rejected with, which must be a WinnowError. */
export async function errorOf(promise: Promise<unknown>): Promise<WinnowError> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof WinnowError) return error;
    throw error;
  }
  throw new Error('it was not rejected');
}

export interface HubStep {
  /** Any status but those of success is sent without the file. */
  status?: number;
  /** Sends only so many bytes and then leaves the connection open until `cut` is called, or for ever. */
  sendBytes?: number;
  ignoresRange?: boolean;
  content?: Buffer;
  /** Does not say how large the file is. */
  hidesSize?: boolean;
}

export interface Hub {
  url: string;
  /** The Range and the Accept-Encoding of each request. */
  requests: { range: string | undefined; encoding: string | undefined }[];
  /** Ends the connections that are open, as a failing network would. */
  cut(): void;
  close(): Promise<void>;
}

export async function startHub(content: Buffer, steps: readonly HubStep[] = []): Promise<Hub> {
  const requests: Hub['requests'] = [];
  const open = new Set<ServerResponse>();
  const server = createServer(({ headers }, response) => {
    open.add(response);
    requests.push({ range: headers.range, encoding: String(headers['accept-encoding']) });
    answer(headers.range, response, { content, ...steps[requests.length - 1] });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/model.gguf`,
    requests,
    cut() {
      for (const response of open) response.socket?.destroy();
      open.clear();
    },
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

function answer(range: string | undefined, response: ServerResponse, step: HubStep & { content: Buffer }): void {
  const { status = 200, content, sendBytes, hidesSize } = step;
  if (status >= 300) {
    response.writeHead(status).end();
    return;
  }
  const wanted = step.ignoresRange ? undefined : /^bytes=(\d+)-$/u.exec(range ?? '')?.[1];
  const start = Number(wanted ?? 0);
  response.writeHead(start > 0 ? 206 : 200, {
    ...(hidesSize ? {} : { 'content-length': content.length - start }),
    ...(start > 0 ? { 'content-range': `bytes ${start}-${content.length - 1}/${content.length}` } : {}),
  });
  response.write(content.subarray(start, sendBytes === undefined ? content.length : start + sendBytes));
  if (sendBytes === undefined) response.end();
}
