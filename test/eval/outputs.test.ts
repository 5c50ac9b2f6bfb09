import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { noUsage } from '../../src/core/model/model.js';
import { writeOutputs } from '../../src/eval/outputs.js';
import { loadPrices, pairId } from '../../src/eval/prices.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { aRecord, aRun } from './setup.js';

it('an output that can not be written is told by its name', async () => {
  const { path, summary } = await aRun([aRecord()]);
  mkdirSync(join(path, 'cases.jsonl'));
  await expect(writeOutputs(path, summary)).rejects.toMatchObject({
    code: 'invalid_option',
    message: expect.stringMatching(/cases\.jsonl/u),
  });
});

describe('the outputs of a run', () => {
  it('are summary, records and the page, each whole', async () => {
    const { path, summary } = await aRun([aRecord({ id: 'case-one' })]);
    expect(await writeOutputs(path, summary)).toBe(join(path, 'report.html'));
    const read = (name: string) => readFileSync(join(path, name), 'utf8');
    expect(JSON.parse(read('run.json'))).toEqual(summary);
    expect(read('cases.jsonl')).toBe(`${JSON.stringify(aRecord({ id: 'case-one' }))}\n`);
    expect(read('report.html')).toMatch(/^<!doctype html>[\s\S]*"interrupted":false[\s\S]*<\/html>\s*$/iu);
  });
});

describe('a price table', () => {
  const aTable = (content: unknown) => {
    const path = join(temporaryFolder(), 'prices.json');
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
    return path;
  };
  const usage = { calls: 1, read: 1_000_000, cached: 500_000, written: 100_000 };

  it.each([
    [{ read: 2, cached: 1, written: 10 }, 3.5],
    [{ read: 2, written: 10 }, 4],
  ])('%j gives %d', async (price, cost) => {
    const prices = (await loadPrices(aTable({ models: { m: price } }))).of('m');
    expect([prices.currency, prices.costOf({ selection: usage, planning: noUsage() })]).toEqual(['USD', cost]);
  });

  it('may begin with the mark that some editors write', async () => {
    const table = aTable(`\uFEFF${JSON.stringify({ models: { m: { read: 1, written: 0 } } })}`);
    await expect(loadPrices(table)).resolves.toMatchObject({ currency: 'USD' });
  });

  it('prices each stage by its own model, where two share the work', async () => {
    const models = { small: { read: 1, written: 10 }, large: { read: 10, written: 100 } };
    const table = await loadPrices(aTable({ models }));
    const costOf = (id: string) => table.of(id).costOf({ selection: usage, planning: usage });
    expect([costOf('small'), costOf('large'), costOf(pairId('small', 'large'))]).toEqual([5, 50, 27.5]);
    expect(() => table.of(pairId('small', 'none'))).toThrow('has no model "none"');
  });

  it.each([
    ['that is not there', 'none.json', "can't be read"],
    ['that is no JSON', aTable('{'), "can't be read"],
    ['with a price below nought', aTable({ models: { m: { read: -1, written: 0 } } }), 'models.m.read'],
    ['with a field that is not known', aTable({ models: { m: { read: 1, write: 0 } } }), 'write'],
    ['without the model', aTable({ models: { other: { read: 1, written: 1 } } }), 'has no model "m"; it has other'],
  ])('%s is refused', async (_, path, message) => {
    await expect(loadPrices(path).then((table) => table.of('m'))).rejects.toMatchObject({
      code: 'invalid_option',
      message: expect.stringContaining(message),
    });
  });
});
