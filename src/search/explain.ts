/** Why a tool matched: of each unit of the query the word of the tool that counted most, and the fields it stands in. */
import { SEARCH_FIELDS, type SearchField } from './fields.js';
import { placeOf } from './found-list.js';
import { type Layer, toolAt } from './layer.js';
import { entryOf } from './postings.js';
import type { Reading } from './reading.js';
import type { ReadUnit } from './score.js';
import { writtenForms } from './terms.js';

export interface WhyMatched {
  /** The word or phrase of the query. */
  readonly asked: string;
  /** The word of the query, and behind an arrow the word of the tool where it is another. */
  readonly word: string;
  /** `learnt`: by no word of the tool, but because of what was chosen after such a query before. */
  readonly fields: readonly (SearchField | 'learnt')[];
}

/** By the bits of the fields. */
const FIELD_LISTS = Array.from({ length: 1 << SEARCH_FIELDS.length }, (_, bits) =>
  SEARCH_FIELDS.filter((_field, number) => (bits & (1 << number)) !== 0),
);

/** A tool that was found. */
export interface Hit {
  readonly layer: Layer;
  /** Of the layer, among those that were searched. */
  readonly place: number;
  readonly document: number;
}

export function explain({ layer, place, document }: Hit, units: readonly ReadUnit[]): WhyMatched[] {
  const written = writtenForms(toolAt(layer, document));
  return units.flatMap((unit): WhyMatched[] => {
    const { text: asked, readings, learnt } = unit;
    const list = unit.lists[place];
    const entry = list ? placeOf(list, document) : -1;
    const worth = list?.values[entry] ?? 0;
    if ((learnt.get(toolAt(layer, document).name) ?? 0) > worth) return [{ asked, word: asked, fields: ['learnt'] }];
    const reading = readings[list?.readings[entry] ?? -1];
    if (!reading) return [];
    const { terms, fields } = matchOf(layer, document, reading);
    const shown = terms.map((term) => written.get(term) ?? term).join(' ');
    const word = asked === shown ? shown : `${asked} → ${shown}`;
    return [{ asked, word, fields: FIELD_LISTS[fields] ?? [] }];
  });
}

function matchOf({ segment: { postings, numbers } }: Layer, document: number, { terms }: Reading) {
  const found: string[] = [];
  let fields = 0;
  for (const term of terms) {
    const number = numbers.get(term);
    const entry = number === undefined ? -1 : entryOf(postings, number, document);
    if (number === undefined || entry < 0) continue;
    found.push(term);
    fields |= postings.fields[entry] ?? 0;
  }
  return { terms: found, fields };
}
