/** What can be turned off of selection is turned off in turn: no part's share stays unknown. */
import { describe, expect, it } from '@jest/globals';
import { optionsSchema, resolveOptions } from '../../../src/core/config/options.js';
import { PARTS } from './winnow.js';

/** Those that are on and change nothing of selection. */
const OF_PLANS = ['defaults'];

/** What turns an option off that is on by default: `false`; 0 where its description says what 0 means; one reading. */
function offOf([name, value]: [string, unknown]): [string, unknown][] {
  const { description = '' } = optionsSchema.shape[name as keyof typeof optionsSchema.shape];
  if (OF_PLANS.includes(name)) return [];
  if (value === true) return [[name, false]];
  if (name === 'readings') return [[name, 1]];
  return typeof value === 'number' && value > 0 && /\b0: /u.test(description) ? [[name, 0]] : [];
}

const SWITCHES = Object.entries(resolveOptions()).flatMap(offOf);

describe('the parts of Winnow', () => {
  it('that can be turned off are found in the schema of its options', () => {
    const expected = [
      'fitBelow',
      'readings',
      'keywordWeight',
      'twins',
      'fill',
      'producers',
      'companions',
      'rules',
      'secondLook',
    ];
    expect(SWITCHES.map(([name]) => name).sort()).toEqual(expected.sort());
  });

  it.each(SWITCHES)('are measured with %s: %j alone', (name, off) => {
    const alone = Object.values(PARTS).filter(
      ({ options }) => JSON.stringify(options) === JSON.stringify({ [name]: off }),
    );
    expect(alone).toHaveLength(1);
  });
});
