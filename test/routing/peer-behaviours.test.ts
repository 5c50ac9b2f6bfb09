import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { COVERED, OTHERWISE } from './peer-behaviours.js';

/** The name of a test as it stands in the code; those in double quotes have an apostrophe. */
const isThere = (text: string, name: string) =>
  text.includes(`'${name}', `) || text.includes(`"${name}", `) || text.includes(`'${name}',\n`);

describe('the behaviours of the closest peer', () => {
  it.each(COVERED)('%s: there is a test of it', (_, file, test) => {
    expect([file, test, isThere(readFileSync(`test/${file}`, 'utf8'), test)]).toEqual([file, test, true]);
  });

  it('are all there once, and what is otherwise here has a reason', () => {
    const behaviours = [...COVERED, ...OTHERWISE].map(([behaviour]) => behaviour);
    expect(new Set(behaviours).size).toBe(behaviours.length);
    expect(OTHERWISE.filter(([, reason]) => reason.length < 40)).toEqual([]);
  });
});
