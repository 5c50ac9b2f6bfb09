import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { writeOutputs } from '../../src/eval/outputs.js';
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
