import { describe, expect, it } from '@jest/globals';
import { flagsAgain } from '../../src/cli/flags-again.js';

describe('flags as they are typed again', () => {
  it('are those that were given, in the order wanted, each value once', () => {
    const flags = { user: 'ann', catalog: ['a.json', 'https://example.org/api.yaml'], config: 'winnow.yaml' };
    expect(flagsAgain(flags, ['config', 'store', 'catalog', 'user'])).toBe(
      ' --config winnow.yaml --catalog a.json --catalog https://example.org/api.yaml --user ann',
    );
    expect(flagsAgain({}, ['config', 'store'])).toBe('');
  });

  it('are quoted for a shell', () => {
    expect(flagsAgain({ config: "Ann's tools/$HOME.yaml" }, ['config'])).toBe(
      String.raw` --config 'Ann'\''s tools/$HOME.yaml'`,
    );
  });

  it('hold no password', () => {
    expect(flagsAgain({ store: 'postgres://winnow:secret@db/winnow', user: 'ann' }, ['store', 'user'])).toBe(
      ' --user ann',
    );
    expect(flagsAgain({ store: 'postgres://db/winnow' }, ['store'])).toBe(' --store postgres://db/winnow');
  });
});
