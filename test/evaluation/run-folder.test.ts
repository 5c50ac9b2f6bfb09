import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { openRunFolder, readPrompt, readRecords, readSummary } from '../../src/evaluation/run-folder.js';
import { aFolder, anError, aRecord, aRun } from './setup.js';

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
