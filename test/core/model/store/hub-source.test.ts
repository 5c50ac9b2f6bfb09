import { readdir, writeFile } from 'node:fs/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { ensureModel } from '../../../../src/core/model/store/ensure-model.js';
import type { HubStep } from './hub-server.js';
import {
  CONTENT,
  CONTENT_HASH,
  errorOf,
  FILE,
  fileHash,
  type Setup,
  setUp,
  sha256,
  smallModel,
} from './store-setup.js';

let setup: Setup;
const begin = async (steps: readonly HubStep[] = []) => {
  setup = await setUp(steps);
  return setup;
};
afterEach(() => setup.close());

/** Ends the connection when all that was sent has been written. */
const cutAt = (bytes: number) => ({
  onProgress: (progress: { bytes: number }) => {
    if (progress.bytes === bytes) setup.hub.cut();
  },
});

describe('the model from its hub', () => {
  it('is fetched, checked and found at once the next time', async () => {
    const { options, path, hub, folder } = await begin();
    const stored = await ensureModel(options);
    expect(stored).toEqual({ path, name: 'small', sha256: sha256(CONTENT), bytes: CONTENT.length });
    expect(await fileHash(path)).toBe(CONTENT_HASH);
    expect(await ensureModel(options)).toEqual(stored);
    expect(hub.requests).toHaveLength(1);
    expect((await readdir(folder)).sort()).toEqual([FILE, `${FILE}.verified`]);
  });

  it('continues at the byte where the connection was cut', async () => {
    const { options, path, hub } = await begin([{ sendBytes: 70_001 }]);
    await ensureModel({ ...options, ...cutAt(70_001) });
    expect(await fileHash(path)).toBe(CONTENT_HASH);
    expect(hub.requests).toEqual([
      { range: undefined, ifRange: undefined, sent: 70_001 },
      { range: 'bytes=70001-', ifRange: '"one"', sent: CONTENT.length - 70_001 },
    ]);
  });

  it('continues in the next run where the last one was cancelled', async () => {
    const { options, path, hub, folder } = await begin([{ sendBytes: 50_000 }]);
    const controller = new AbortController();
    const onProgress = ({ bytes }: { bytes: number }) => bytes === 50_000 && controller.abort();
    const error = await errorOf(ensureModel({ ...options, signal: controller.signal, onProgress }));
    expect(error.code).toBe('cancelled');
    expect((await readdir(folder)).sort()).toEqual([`${FILE}.part`, `${FILE}.part.json`]);
    await ensureModel(options);
    expect(await fileHash(path)).toBe(CONTENT_HASH);
    expect(hub.requests[1]).toEqual({ range: 'bytes=50000-', ifRange: '"one"', sent: CONTENT.length - 50_000 });
  });

  it.each<[string, HubStep[]]>([
    ['sends the whole new file', [{ etag: '"two"' }]],
    ['continues with the new file all the same', [{ etag: '"two"', ignoresIfRange: true }, { etag: '"two"' }]],
    ['does not know the range', [{ status: 416 }, {}]],
    ['knows no ranges', [{ ignoresRange: true }]],
  ])('starts over when the hub %s', async (_case, later) => {
    const old = Buffer.alloc(CONTENT.length, 'old');
    const { options, path, notices } = await begin([{ content: old, sendBytes: 60_000 }, ...later]);
    await ensureModel({ ...options, ...cutAt(60_000) });
    expect(await fileHash(path)).toBe(CONTENT_HASH);
    expect(notices).toContain('The hub does not continue the file at byte 60000: starting over.');
  });

  it('starts over once when what an earlier run has left is wrong', async () => {
    const { options, path, hub, notices } = await begin();
    await writeFile(`${path}.part`, Buffer.alloc(30_000, 'wrong'));
    await ensureModel(options);
    expect(await fileHash(path)).toBe(CONTENT_HASH);
    expect(hub.requests.map((request) => request.range)).toEqual(['bytes=30000-', undefined]);
    expect(notices.join()).toContain('wrong checksum');
  });

  it('needs no source when only the last step of an earlier run is missing', async () => {
    const { options, path, hub } = await begin();
    await writeFile(`${path}.part`, CONTENT);
    await ensureModel(options);
    expect(await fileHash(path)).toBe(CONTENT_HASH);
    expect(hub.requests).toEqual([]);
  });

  it.each([408, 429, 500, 503])('tries again after HTTP %d', async (status) => {
    const { options, path, hub } = await begin([{ status }, { status }]);
    await ensureModel(options);
    expect(await fileHash(path)).toBe(CONTENT_HASH);
    expect(hub.requests).toHaveLength(3);
  });

  it('is not given up while every try brings more of it', async () => {
    const steps = Array.from({ length: 5 }, () => ({ sendBytes: 30_000 }));
    const { options, path, hub } = await begin(steps);
    const onProgress = ({ bytes }: { bytes: number }) => {
      if (bytes > 0 && bytes % 30_000 === 0) setup.hub.cut();
    };
    await ensureModel({ ...options, retries: 1, onProgress });
    expect(await fileHash(path)).toBe(CONTENT_HASH);
    expect(hub.requests).toHaveLength(6);
  });

  it.each([401, 403, 404])('is refused by HTTP %d, which is not tried again', async (status) => {
    const { options, hub } = await begin([{ status }]);
    const error = await errorOf(ensureModel(options));
    expect(error.code).toBe('model_unavailable');
    expect(error.issues[0]).toBe(`hub ${new URL(hub.url).host}: refused: HTTP ${status}`);
    expect(hub.requests).toHaveLength(1);
  });

  it.each([
    ['before the first byte', 0, 2],
    ['in the middle', 20_000, 3],
  ])('times out when no byte comes %s', async (_case, sendBytes, tries) => {
    const { options, hub } = await begin([{ sendBytes }, { sendBytes: 0 }, { sendBytes: 0 }]);
    const error = await errorOf(ensureModel({ ...options, stallTimeoutInMs: 100, retries: 1 }));
    expect(error.issues[0]).toBe(`hub ${new URL(hub.url).host}: timed out: no byte for 0.1 s`);
    expect(hub.requests).toHaveLength(tries);
    expect(error.details.keptBytes).toBe(sendBytes);
  });

  it('is refused when nothing listens', async () => {
    const { options, hub } = await begin();
    await hub.close();
    const error = await errorOf(ensureModel(options));
    expect(error.issues[0]).toMatch(/^hub 127\.0\.0\.1:\d+: refused: the connection was refused \(ECONNREFUSED\)$/);
  });

  it.each<[string, HubStep, string]>([
    ['of another size', { content: CONTENT.subarray(1) }, 'it has a file of 179999 bytes instead of 180000'],
    ['that is a web page', { contentType: 'text/html; charset=utf-8' }, 'a web page came in place of the file'],
  ])('keeps what it has when it is offered a file %s', async (_case, step, reason) => {
    const { options, path } = await begin([step]);
    await writeFile(`${path}.part`, CONTENT.subarray(0, 30_000));
    const error = await errorOf(ensureModel(options));
    expect(error.issues[0]).toContain(`unusable: ${reason}`);
    expect(await fileHash(`${path}.part`)).toBe(sha256(CONTENT.subarray(0, 30_000)));
  });

  it('is deleted when the checksum is wrong, and the error says so', async () => {
    const wrong = Buffer.alloc(CONTENT.length, 'wrong');
    const { options, folder } = await begin([{ content: wrong }]);
    const error = await errorOf(ensureModel(options));
    expect(error.issues[0]).toContain(
      `unusable: wrong checksum: SHA-256 ${sha256(wrong)} instead of ${sha256(CONTENT)}; the file was deleted`,
    );
    expect(await readdir(folder)).toEqual([]);
  });

  it('is asked for without compression, which would hide the size', async () => {
    const { options, hub } = await begin();
    const asked: unknown[] = [];
    const fetch: typeof globalThis.fetch = (url, init) => {
      asked.push(new Headers(init?.headers).get('accept-encoding'));
      return globalThis.fetch(url, init);
    };
    await ensureModel({ ...options, fetch, models: [smallModel(hub.url)] });
    expect(asked).toEqual(['identity']);
  });
});
