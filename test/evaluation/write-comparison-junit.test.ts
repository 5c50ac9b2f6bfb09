import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { XMLParser, XMLValidator } from 'fast-xml-parser';
import { compareRuns } from '../../src/evaluation/compare.js';
import { writeComparisonJUnit } from '../../src/evaluation/write-comparison-junit.js';
import { aFolder, aRecord, aRun } from './setup.js';

const parser = new XMLParser({
  ignoreAttributes: false,
  attributeNamePrefix: '@',
  isArray: (name) => /^test(?:suite|case)$/u.test(name),
});

const records = (values: Readonly<Record<string, number>>) =>
  Object.entries(values).map(([id, right]) => aRecord({ id, scores: { right } }));

async function written(before: Record<string, number>, after: Record<string, number>, name = 'set') {
  const first = await aRun(records(before), { name });
  const second = await aRun(records(after));
  const comparison = await compareRuns(first.path, second.path);
  const gate = [{ bar: 'recall>=0.9', passed: false, found: 'recall is 0.5' }];
  const out = join(aFolder(), 'compared.xml');
  writeComparisonJUnit({ comparison, gate, out });
  return readFileSync(out, 'utf8');
}

describe('a comparison for build servers', () => {
  it('fails what was lost, tells what was won, counts the rest, and has the bars', async () => {
    const text = await written({ lost: 1, won: 0, both: 1, none: 0 }, { lost: 0, won: 1, both: 1, none: 0 });
    const [compared, gate] = parser.parse(text).testsuites.testsuite;
    expect(compared).toMatchObject({
      '@name': expect.stringContaining('4 cases in both'),
      '@tests': '2',
      '@failures': '1',
      testcase: [{ '@name': 'lost', failure: { '@type': 'lost' } }, { '@name': 'won' }],
    });
    expect(compared.testcase[1]).not.toHaveProperty('failure');
    expect(gate).toMatchObject({ '@name': 'gate', '@failures': '1' });
  });

  it('is well formed with any text', async () => {
    const odd = '<b>&"\'</testcase>';
    expect(XMLValidator.validate(await written({ [odd]: 1 }, { [odd]: 0 }, odd))).toBe(true);
  });
});
