/** Why a tool matched: of each unit of the query the word of the tool that counted most, and the fields it stands in. */
import { SEARCH_FIELDS, type SearchField } from './fields.js';
import { type Layer, toolAt } from './layer.js';
import { entryOf } from './postings.js';
import type { Reading } from './readings.js';
import type { ReadUnit } from './score.js';

export interface WhyMatched {
  /** The word or phrase of the query. */
  readonly asked: string;
  /** The word of the query, and behind an arrow the word of the tool where it is another. */
  readonly word: string;
  /** `learnt`: by no word of the tool, but because of what was chosen after such a query before. */
  readonly fields: readonly (SearchField | 'learnt')[];
}

interface Found {
  worth: number;
  shown: string[];
  fields: number;
}

export function explain(layer: Layer, document: number, units: readonly ReadUnit[]): WhyMatched[] {
  return units.flatMap((unit): WhyMatched[] => {
    const found = unit.readings
      .map((reading) => findReading(layer, document, reading))
      .reduce((best, one) => (one.worth > best.worth ? one : best), { worth: 0, shown: [], fields: 0 });
    const learnt = unit.learnt.get(toolAt(layer, document).name) ?? 0;
    if (learnt > found.worth) return [{ asked: unit.text, word: unit.text, fields: ['learnt'] }];
    if (found.worth === 0) return [];
    const shown = found.shown.join(' ');
    const word = unit.text === shown ? shown : `${unit.text} → ${shown}`;
    return [{ asked: unit.text, word, fields: SEARCH_FIELDS.filter((_, number) => (found.fields & (1 << number)) !== 0) }];
  });
}

function findReading({ segment: { postings, numbers } }: Layer, document: number, { terms, weight }: Reading): Found {
  const found: Found = { worth: 0, shown: [], fields: 0 };
  for (const term of terms) {
    const number = numbers.get(term);
    const entry = number === undefined ? -1 : entryOf(postings, number, document);
    if (number === undefined || entry < 0) continue;
    found.worth += weight * (postings.strengths[entry] ?? 0);
    found.shown.push(postings.shown[number] ?? term);
    found.fields |= postings.fields[entry] ?? 0;
  }
  found.worth *= found.shown.length / Math.max(1, terms.length);
  return found;
}
