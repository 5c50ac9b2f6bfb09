/** Why a tool matched: of each unit of the query the word of the tool that counted most, and the fields it stands in. */
import type { Tool } from '../catalog/tool.js';
import { SEARCH_FIELDS, type SearchField } from './fields.js';
import { placeOf } from './found-list.js';
import { type Layer, toolAt } from './layer.js';
import { entryOf } from './postings.js';
import type { Reading } from './reading.js';
import type { ReadUnit } from './score.js';
import { writtenForm } from './terms.js';

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
  const tool = toolAt(layer, document);
  return units.flatMap((unit): WhyMatched[] => {
    const { text: asked, readings, learnt } = unit;
    const list = unit.lists[place];
    const entry = list ? placeOf(list, document) : -1;
    const worth = list?.values[entry] ?? 0;
    if ((learnt.get(tool.name) ?? 0) > worth) return [{ asked, word: asked, fields: ['learnt'] }];
    const reading = readings[list?.readings[entry] ?? -1];
    if (!reading) return [];
    const found = matchesOf(layer, document, reading);
    const fields = found.reduce((bits, one) => bits | one.fields, 0);
    const shown = found.map((one) => shownAs(tool, one)).join(' ');
    const word = asked === shown ? shown : `${asked} → ${shown}`;
    return [{ asked, word, fields: FIELD_LISTS[fields] ?? [] }];
  });
}

interface Match {
  readonly term: string;
  /** A bit for each field that has it. */
  readonly fields: number;
}

function matchesOf({ segment: { postings, numbers } }: Layer, document: number, { terms }: Reading): Match[] {
  return terms.flatMap((term) => {
    const number = numbers.get(term);
    const entry = number === undefined ? -1 : entryOf(postings, number, document);
    return entry < 0 ? [] : [{ term, fields: postings.fields[entry] ?? 0 }];
  });
}

function shownAs(tool: Tool, { term, fields }: Match): string {
  const [first] = FIELD_LISTS[fields] ?? [];
  return first === undefined ? term : writtenForm(tool, term, first);
}
