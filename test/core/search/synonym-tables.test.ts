import { describe, expect, it } from '@jest/globals';
import { stemOf } from '../../../src/core/search/stem.js';
import { generalTable, tableWith } from '../../../src/core/search/synonym-tables.js';
import { GENERAL_WEIGHT, OWN_WEIGHT } from '../../../src/core/search/synonyms.js';

const meaningsOf = (table: ReturnType<typeof tableWith>, word: string) =>
  table.phraseAt([stemOf(word)], 0)?.meanings ?? [];

describe('the tables of a search', () => {
  it('know what a catalogue says, surer than what is said in general, and that, too', () => {
    const table = tableWith([['delete', 'scrap'], { words: ['zap'], means: ['restart'] }]);
    expect(meaningsOf(table, 'zap')).toEqual([{ terms: [stemOf('restart')], weight: OWN_WEIGHT }]);
    expect(meaningsOf(table, 'scrap')).toContainEqual({ terms: [stemOf('delete')], weight: OWN_WEIGHT });
    const general = meaningsOf(table, 'delete').filter(({ weight }) => weight === GENERAL_WEIGHT);
    expect(general.length).toBeGreaterThan(2);
  });

  it('are one and the same for all catalogues that say nothing of their own', () => {
    expect(tableWith([])).toBe(generalTable());
    expect(meaningsOf(generalTable(), 'zap')).toEqual([]);
  });
});
