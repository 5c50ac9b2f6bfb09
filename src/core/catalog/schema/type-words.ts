/** Reads the type words that tool authors use (`int`, `List[str]`, `Optional[float]`, `string|null`) as JSON types. */
import { type JsonType, typeKeyword } from './json.js';

export interface TypeReading {
  /** Empty: any type. */
  types: readonly JsonType[];
  format?: string;
  /** Schema of the elements, where the word names it. */
  items?: Readonly<Record<string, unknown>>;
}

const WORDS: ReadonlyMap<string, readonly JsonType[]> = new Map(
  Object.entries({
    string: 'string str text varchar char character password binary bytes file',
    integer: 'integer int long short int32 int64 uint uint32 uint64 bigint',
    number: 'number num numeric float float32 float64 double decimal real',
    boolean: 'boolean bool',
    array: 'array arr list tuple set sequence iterable',
    object: 'object obj dict dictionary map mapping hash hashmap record struct json',
    null: 'null none nil nonetype undefined void',
  }).flatMap(([type, words]) => words.split(' ').map((word) => [word, [type as JsonType]] as const)),
);

const STRING_FORMATS: ReadonlyMap<string, string> = new Map([
  ['date', 'date'],
  ['datetime', 'date-time'],
  ['date-time', 'date-time'],
  ['time', 'time'],
  ['email', 'email'],
  ['url', 'uri'],
  ['uri', 'uri'],
  ['uuid', 'uuid'],
]);

const ANY_WORDS = new Set(['any', 'mixed', 'unknown', 'object|any', 'value', 'enum']);
const MAX_WORD_CHARACTERS = 200;

/** `undefined` where the word says nothing that can be used. */
export function readTypeWord(word: string): TypeReading | undefined {
  const text = word.trim();
  if (text.length > MAX_WORD_CHARACTERS) return undefined;
  const plain = readPlainWord(text.toLowerCase());
  if (plain) return plain;
  const parts = splitOutside(text, /^(\||\sor\s)/i);
  if (parts.length > 1) return union(parts);
  if (text.endsWith('?')) return union([text.slice(0, -1), 'null']);
  if (text.endsWith('[]')) return listOf(text.slice(0, -2));
  return readGeneric(text);
}

function readPlainWord(word: string): TypeReading | undefined {
  const types = WORDS.get(word);
  if (types) return { types };
  if (ANY_WORDS.has(word)) return { types: [] };
  const format = STRING_FORMATS.get(word);
  return format === undefined ? undefined : { types: ['string'], format };
}

function readGeneric(text: string): TypeReading | undefined {
  const match = /^([\w.]+)\s*[[<(](.*)[\]>)]$/s.exec(text);
  if (!match) return undefined;
  const outer = (match[1] ?? '').toLowerCase().replace(/^typing\./, '');
  const inner = splitOutside(match[2] ?? '', /^,/);
  if (outer === 'optional' || outer === 'nullable') return union([...inner, 'null']);
  if (outer === 'union') return union(inner);
  const types = WORDS.get(outer);
  if (types?.[0] === 'array' && inner.length === 1) return listOf(inner[0] ?? '');
  return types ? { types } : undefined;
}

function listOf(word: string): TypeReading | undefined {
  const inner = readTypeWord(word);
  if (!inner) return undefined;
  const items = {
    ...(inner.types.length === 0 ? {} : { type: typeKeyword(inner.types) }),
    ...(inner.format === undefined ? {} : { format: inner.format }),
    ...(inner.items === undefined ? {} : { items: inner.items }),
  };
  return { types: ['array'], items };
}

function union(words: readonly string[]): TypeReading | undefined {
  const readings = words.map(readTypeWord);
  const known = readings.filter((reading) => reading !== undefined);
  if (known.length < readings.length) return undefined;
  if (known.some((reading) => reading.types.length === 0)) return { types: [] };
  const items = known.find((reading) => reading.items)?.items;
  return { types: [...new Set(known.flatMap((reading) => reading.types))], ...(items ? { items } : {}) };
}

/** Splits where the separator stands outside of all brackets. */
function splitOutside(text: string, separator: RegExp): string[] {
  const parts: string[] = [];
  let depth = 0;
  let start = 0;
  for (let index = 0; index < text.length; index++) {
    const character = text.charAt(index);
    if ('[<('.includes(character)) depth++;
    else if (']>)'.includes(character)) depth--;
    const match = depth === 0 ? separator.exec(text.slice(index)) : null;
    if (!match) continue;
    parts.push(text.slice(start, index));
    start = index + match[0].length;
    index = start - 1;
  }
  return [...parts, text.slice(start)].map((part) => part.trim());
}
