import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { readVersion } from '../../src/core/environment.js';
import { readSources } from '../support/source-files.js';

describe('the version', () => {
  it('is that of the package', () => {
    expect(readVersion()).toBe(JSON.parse(readFileSync('package.json', 'utf8')).version);
  });

  it('is written by hand nowhere; those of the packages with weights are', () => {
    const byHand = readSources().filter(({ text }) => /\bversion\b.{0,20}'\d+\.\d+\.\d+'/u.test(text));
    expect(byHand.map(({ path }) => path)).toEqual(['core/model/store/sources.ts']);
  });
});
