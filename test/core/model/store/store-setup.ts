/** What every test of the store needs: a small model, an empty folder, a scripted hub and a Python that fetches pieces. */
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { WinnowError } from '../../../../src/core/errors.js';
import type { EnsureModelOptions } from '../../../../src/core/model/store/ensure-model.js';
import type { RunPython } from '../../../../src/core/model/store/package-source.js';
import type { ModelEntry } from '../../../../src/core/model/store/stored-model.js';
import { type Hub, type HubStep, startHub } from './hub-server.js';

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
    packages: { prefix: 'small-model-part', version: '1.2.3', bytes: PIECE_BYTES },
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
