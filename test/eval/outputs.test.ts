import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { XMLParser, XMLValidator } from 'fast-xml-parser';
import { noUsage } from '../../src/core/model/model.js';
import { writeOutputs } from '../../src/eval/outputs.js';
import { loadPrices, pairId } from '../../src/eval/prices.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { anError, aRecord, aRun } from './setup.js';

it('an output that can not be written is told by its name', async () => {
  const { path, summary } = await aRun([aRecord()]);
  mkdirSync(join(path, 'cases.jsonl'));
  await expect(writeOutputs(path, summary, [])).rejects.toMatchObject({
    code: 'invalid_option',
    message: expect.stringMatching(/cases\.jsonl/u),
  });
});

describe('the file for build servers', () => {
  const parser = new XMLParser({
    ignoreAttributes: false,
    attributeNamePrefix: '@',
    isArray: (name) => /^test(?:suite|case)$/u.test(name),
  });

  it('tells failures, errors and bars apart', async () => {
    const wrong = aRecord({ id: 'w', repeat: 1, scores: { right: 0 }, cause: 'cap' });
    const { path, summary } = await aRun([
      aRecord({ id: 'a' }),
      wrong,
      anError('e'),
      aRecord({ id: 'u', scores: { right: null } }),
    ]);
    const gate = [{ bar: 'recall>=0.9', passed: false, found: 'recall is 0.5' }];
    await writeOutputs(path, summary, gate);
    const { testsuites } = parser.parse(readFileSync(join(path, 'junit.xml'), 'utf8'));
    expect(testsuites.testsuite).toMatchObject([
      {
        '@name': 'set',
        '@tests': '4',
        '@failures': '1',
        '@errors': '1',
        testcase: [
          { '@name': 'a', '@time': '0.009' },
          { '@name': 'w (repeat 1)', failure: { '@type': 'cap' } },
          { '@name': 'e', error: { '@type': 'model_failed', '@message': 'HTTP 500' } },
          { '@name': 'u' },
        ],
      },
      {
        '@name': 'gate',
        '@failures': '1',
        testcase: [{ '@name': 'recall>=0.9', failure: { '@message': 'recall is 0.5' } }],
      },
    ]);
    expect(testsuites.testsuite[0].testcase[3]).not.toHaveProperty('failure');
  });

  it.each(['<b>&"\'</testcase>', 'a\u0000b\u001b[31m', '\ud800 alone', ']]>', '盘石头水库 😀'])(
    'is well formed with %j in any place',
    async (text) => {
      const record = aRecord({ id: text, suite: 'set', query: text, scores: { right: 0 }, cause: text });
      const { path, summary } = await aRun([record], { name: text });
      await writeOutputs(path, summary, []);
      const written = readFileSync(join(path, 'junit.xml'), 'utf8');
      expect(XMLValidator.validate(written)).toBe(true);
      expect(written).not.toMatch(/(?![\t\n\r])\p{Cc}/u);
    },
  );
});

describe('the outputs of a run', () => {
  it('are summary, records, the file for build servers and the page, each whole', async () => {
    const { path, summary } = await aRun([aRecord({ id: 'case-one' })]);
    expect(await writeOutputs(path, summary, [])).toBe(join(path, 'report.html'));
    const read = (name: string) => readFileSync(join(path, name), 'utf8');
    expect(JSON.parse(read('run.json'))).toEqual(summary);
    expect(read('cases.jsonl')).toBe(`${JSON.stringify(aRecord({ id: 'case-one' }))}\n`);
    expect(read('junit.xml')).toContain('case-one');
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
