/** What every test of the store needs: a small model, an empty folder, and sources that are closed afterwards. */
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WinnowError } from '../../../../src/core/errors.js';
import type { EnsureModelOptions } from '../../../../src/core/model/store/ensure-model.js';
import type { ModelEntry } from '../../../../src/core/model/store/manifest.js';
import { type Hub, type HubStep, startHub } from './hub-server.js';

export const PART_BYTES = 40_000;
/** Five parts, the last one shorter; no two places look the same. */
export const CONTENT = Buffer.from(Uint32Array.from({ length: 45_000 }, (_, index) => index * 2_654_435_761).buffer);
export const CONTENT_HASH = sha256(CONTENT);
export const FILE = 'small.gguf';

export function sha256(content: Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}

/** Hashes are compared since a matcher on two large buffers takes half a second. */
export async function fileHash(path: string): Promise<string> {
  return sha256(await readFile(path));
}

export function smallModel(hub: string, content: Buffer = CONTENT): ModelEntry {
  return {
    name: 'small',
    file: FILE,
    bytes: content.length,
    sha256: sha256(content),
    licence: 'Apache-2.0',
    hub,
    packages: {
      prefix: 'small-model-part',
      count: Math.ceil(content.length / PART_BYTES),
      version: '1.2.3',
      partBytes: PART_BYTES,
    },
  };
}

export interface Setup {
  folder: string;
  path: string;
  hub: Hub;
  notices: string[];
  /** Fast, and with packages that are refused; a test overrides what it is about. */
  options: EnsureModelOptions & { folder: string };
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
      models: [smallModel(hub.url)],
      downloadPackage: () => Promise.reject(new Error('the packages were not to be asked')),
      onNotice: (notice) => notices.push(notice),
      stallTimeoutInMs: 5_000,
      retryDelayInMs: 1,
      lockPollInMs: 5,
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
