/** Files that outlast a crash: appended lines, replaced files, the folder of a run. */
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { openAppendStore } from '../../src/eval/append-store.js';
import { type DurableFile, openDurableFile } from '../../src/eval/durable-file.js';
import { openRunFolder, readPrompt, readRecords, readSummary } from '../../src/eval/run-folder.js';
import { anyCharacter } from '../support/any-character.js';
import { aFolder, anError, aRecord, aRun } from './setup.js';

describe('an append store', () => {
  const aPath = () => join(aFolder(), 'below', 'store.jsonl');

  describe('a store that only grows', () => {
    it('gives back the latest value of each key, whoever reads', () => {
      const key = fc.constantFrom('a', 'b', 'c', 'key with spaces');
      const value = fc.oneof(fc.jsonValue(), fc.string({ minLength: 200, maxLength: 300, unit: anyCharacter }));
      fc.assert(
        fc.property(fc.array(fc.tuple(key, value), { maxLength: 12 }), (writes) => {
          const path = aPath();
          const store = openAppendStore(path);
          for (const [name, given] of writes) store.put(name, given);
          const latest = new Map(writes.map(([name, given]) => [name, JSON.parse(JSON.stringify(given))]));
          const other = openAppendStore(path);
          for (const one of [store, other]) {
            for (const [name, given] of latest) expect(one.get(name)).toEqual(given);
            expect(one.get('never')).toBeUndefined();
            one.close();
          }
        }),
        { numRuns: 30 },
      );
    });

    it('sees what another process adds later', () => {
      const path = aPath();
      const [here, there] = [openAppendStore(path), openAppendStore(path)];
      here.put('x', 1);
      expect([here.get('x'), here.get('y')]).toEqual([1, undefined]);
      there.put('y', 2);
      expect(here.get('y')).toBe(2);
      here.close();
      there.close();
    });

    it('reads lines longer than what it reads at once', () => {
      const path = aPath();
      const store = openAppendStore(path);
      const long = 'x'.repeat(3 << 20);
      store.put('long', long);
      store.put('short', 1);
      store.close();
      const again = openAppendStore(path);
      expect(again.get('short')).toBe(1);
      expect(again.get('long')).toBe(long);
      again.close();
    });

    it.each([1, 10, 25, 40])('loses only a line cut %i bytes before its end', (cut) => {
      const path = aPath();
      const store = openAppendStore(path);
      store.put('first', { text: 'kept' });
      store.put('cut', { text: 'lost, since the process was killed' });
      store.close();
      const whole = readFileSync(path);
      const torn = aPath();
      openAppendStore(torn).close();
      appendFileSync(torn, whole.subarray(0, whole.length - 1 - cut));
      const other = openAppendStore(torn);
      other.put('after', 3);
      expect([other.get('first'), other.get('cut'), other.get('after')]).toEqual([{ text: 'kept' }, undefined, 3]);
      other.close();
    });

    it('is refused with the path where it can not be opened', () => {
      expect(() => openAppendStore('/dev/null/store.jsonl')).toThrow(/\/dev\/null\/store\.jsonl can't be opened/u);
    });
  });
});

describe('a durable file', () => {
  /** A disk that is told when to end its work. */
  function createDisk() {
    const waiting: { end: () => void; fail: (error: Error) => void }[] = [];
    let told: () => void = () => undefined;
    return {
      sync: () =>
        new Promise<void>((end, fail) => {
          waiting.push({ end, fail });
          told();
        }),
      /** Resolves when it was asked so often in all. */
      asked: (count: number) =>
        new Promise<void>((resolve) => {
          told = () => {
            if (waiting.length >= count) resolve();
          };
          told();
        }),
      count: () => waiting.length,
      end: (place: number) => waiting[place]?.end(),
      fail: (place: number, code: string) => waiting[place]?.fail(Object.assign(new Error(code), { code })),
    };
  }

  const NEVER_MS = 1_000_000;
  const aPath = () => join(aFolder(), 'lines');
  const open = new Set<DurableFile>();
  function openFile(...given: Parameters<typeof openDurableFile>): DurableFile {
    const file = openDurableFile(...given);
    open.add(file);
    return file;
  }
  afterEach(() => {
    for (const file of open) file.close();
    open.clear();
  });

  describe('a durable file', () => {
    it('holds what was appended at once, behind what was there', () => {
      const path = aPath();
      openDurableFile(path).close();
      for (const text of ['a\n', '盘\n']) {
        const file = openDurableFile(path);
        file.append(text);
        expect(readFileSync(path, 'utf8')).toMatch(new RegExp(`${text}$`, 'u'));
        file.close();
      }
      expect(readFileSync(path, 'utf8')).toBe('a\n盘\n');
    });

    it('has the disk write a whole second of it in one go', async () => {
      const disk = createDisk();
      const file = openFile(aPath(), { everyMs: 1, sync: disk.sync });
      for (let line = 0; line < 100; line++) file.append('x\n');
      await disk.asked(1);
      disk.end(0);
      await file.synced();
      expect(disk.count()).toBe(1);
      file.append('y\n');
      await disk.asked(2);
      disk.end(1);
    });

    it('is synced when the disk has what was there at that time, and not before', async () => {
      const disk = createDisk();
      const file = openFile(aPath(), { everyMs: NEVER_MS, sync: disk.sync });
      await file.synced();
      expect(disk.count()).toBe(0);
      const ended: string[] = [];
      file.append('first');
      const first = file.synced().then(() => ended.push('first'));
      await disk.asked(1);
      file.append('second');
      const second = file.synced().then(() => ended.push('second'));
      disk.end(0);
      await first;
      expect(ended).toEqual(['first']);
      await disk.asked(2);
      disk.end(1);
      await second;
    });

    it('takes nothing more from the moment on at which the disk failed', async () => {
      const disk = createDisk();
      const file = openDurableFile(aPath(), { everyMs: NEVER_MS, sync: disk.sync });
      file.append('a');
      const synced = file.synced();
      disk.fail(0, 'EIO');
      await expect(synced).rejects.toMatchObject({ code: 'store_failed' });
      expect(() => file.append('b')).toThrow('the disk does not keep');
      expect(() => file.close()).toThrow('the disk does not keep');
    });

    it('goes on where the system knows no such call', async () => {
      const disk = createDisk();
      const file = openFile(aPath(), { everyMs: NEVER_MS, sync: disk.sync });
      file.append('a');
      const synced = file.synced();
      disk.fail(0, 'EINVAL');
      await synced;
      file.append('b');
    });

    it('can be closed while the disk is at work', async () => {
      const path = aPath();
      const disk = createDisk();
      const file = openDurableFile(path, { everyMs: 1, sync: disk.sync });
      file.append('a');
      await disk.asked(1);
      file.close();
      disk.end(0);
      expect(readFileSync(path, 'utf8')).toBe('a');
    });

    it('says where it can not be opened', () => {
      expect(() => openDurableFile(join(aFolder(), 'none', 'lines'))).toThrow("can't be opened for writing");
    });
  });
});

async function idsIn(path: string): Promise<string[]> {
  const ids = [];
  for await (const { id, repeat } of readRecords(path)) ids.push(`${id}#${repeat}`);
  return ids;
}

describe('the folder of a run', () => {
  it('knows what is done when it is opened again', async () => {
    const { path } = await aRun([aRecord({ id: 'a' }), aRecord({ id: 'a', repeat: 1 }), aRecord({ id: 'b' })]);
    const folder = await openRunFolder(path);
    expect(folder.done()).toBe(3);
    expect([folder.isDone('a', 1), folder.isDone('b', 1), folder.isDone('b', 0)]).toEqual([true, false, true]);
    folder.close();
  });

  it('gives back the records as they were', async () => {
    const record = aRecord({ query: '盘石头 "水库"\u2028', scores: { right: 0, recall: null } });
    const { path } = await aRun([record]);
    for await (const read of readRecords(path)) expect(read).toEqual(record);
  });

  it.each([1, 5, 200])('takes off a last line of which only %i bytes were written', async (bytes) => {
    const { path } = await aRun([aRecord({ id: 'a' }), aRecord({ id: 'b' })]);
    appendFileSync(join(path, 'cases.jsonl'), JSON.stringify(aRecord({ id: 'torn' })).slice(0, bytes));
    const folder = await openRunFolder(path);
    expect(folder.isDone('torn', 0)).toBe(false);
    folder.append(aRecord({ id: 'torn' }));
    folder.close();
    expect(await idsIn(path)).toEqual(['a#0', 'b#0', 'torn#0']);
  });

  it('takes off a torn line longer than what it reads at once', async () => {
    const { path } = await aRun([aRecord({ id: 'a' })]);
    appendFileSync(join(path, 'cases.jsonl'), `{"id":"${'x'.repeat(200_000)}`);
    (await openRunFolder(path)).close();
    expect(await idsIn(path)).toEqual(['a#0']);
  });

  it.each([3, 70_000])('takes off %i zeros that a power loss has left at its end', async (count) => {
    const { path } = await aRun([aRecord({ id: 'a' }), aRecord({ id: 'b' })]);
    appendFileSync(join(path, 'cases.jsonl'), Buffer.alloc(count));
    appendFileSync(join(path, 'cases.jsonl'), '\n');
    (await openRunFolder(path)).close();
    expect(await idsIn(path)).toEqual(['a#0', 'b#0']);
  });

  it('refuses a case that is there already', async () => {
    const { path } = await aRun([aRecord({ id: 'a' })]);
    const folder = await openRunFolder(path);
    expect(() => folder.append(aRecord({ id: 'a' }))).toThrow('is done already');
    folder.close();
  });

  it('takes out cases with an error to do them again, and only where that is asked for', async () => {
    const { path } = await aRun([aRecord({ id: 'a' }), anError('b'), aRecord({ id: 'wrong', scores: { right: 0 } })]);
    const kept = await openRunFolder(path);
    expect(kept.isDone('b', 0)).toBe(true);
    kept.close();
    const retried = await openRunFolder(path, { retryErrors: true });
    expect(retried.isDone('b', 0)).toBe(false);
    retried.append(aRecord({ id: 'b' }));
    retried.close();
    expect(await idsIn(path)).toEqual(['a#0', 'wrong#0', 'b#0']);
  });

  it('keeps the stable part of each prompt once', async () => {
    const path = aFolder();
    const folder = await openRunFolder(path);
    folder.keepPrompt('aa', 'text');
    folder.keepPrompt('aa', 'another text of this hash can not be');
    folder.close();
    expect(await readPrompt(path, 'aa')).toBe('text');
    expect(await readPrompt(path, 'bb')).toBeUndefined();
    expect(await readPrompt(path, '../../secret')).toBeUndefined();
  });

  it('names the line that is no record', async () => {
    const { path } = await aRun([aRecord()]);
    appendFileSync(join(path, 'cases.jsonl'), '{"id":"x"}\n');
    await expect(idsIn(path)).rejects.toThrow(/cases\.jsonl:2 is no record of a case \(repeat: /u);
  });
});

describe('the summary of a run', () => {
  it('can be read again', async () => {
    const { path, summary } = await aRun([aRecord()]);
    expect(readSummary(path)).toEqual(summary);
    expect(existsSync(join(path, 'run.json.unfinished'))).toBe(false);
  });

  it.each([
    ['no run', undefined, 'not_found'],
    ['another file', '{"format":2}', 'invalid_request'],
    ['no JSON', '{', 'invalid_request'],
  ])('is refused where there is %s', (_, text, code) => {
    const path = aFolder();
    if (text !== undefined) writeFileSync(join(path, 'run.json'), text);
    expect(() => readSummary(path)).toThrow(expect.objectContaining({ code }));
  });

  it.each([
    ['a time of another form', { startedAt: 'yesterday' }, /startedAt/u],
    ['a currency that no page can write', { currency: 'dollars' }, /currency: must be a code of three letters/u],
    ['a metric of an unknown group', { metrics: [{ name: 'a', group: 'other' }] }, /metrics\.0\.group/u],
  ])('is refused with %s, naming the field', async (_, wrong, issue) => {
    const { path, summary } = await aRun([aRecord()]);
    writeFileSync(join(path, 'run.json'), JSON.stringify({ ...summary, ...wrong }));
    expect(() => readSummary(path)).toThrow(issue);
  });

  it('is a file that people can read', async () => {
    const { path } = await aRun([aRecord()]);
    expect(readFileSync(join(path, 'run.json'), 'utf8')).toMatch(/^\{\n {2}"format": 1,\n/u);
  });
});
