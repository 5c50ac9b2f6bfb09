/** Type words as authors write them, read as JSON Schema. */
import type { JsonSchema } from '../tool.js';
import { typeKeyword, typesOf } from './json.js';

/** Type words of Python and other languages, in lower case; `any` and unknown words allow any type. */
const TYPE_WORDS: ReadonlyMap<string, JsonSchema> = new Map([
  ...Object.entries({
    string: 'string str text char varchar',
    integer: 'integer int long int32 int64',
    number: 'number float double decimal real float32 float64',
    boolean: 'boolean bool',
    array: 'array list tuple set sequence',
    object: 'object dict dictionary map mapping record hashmap',
    null: 'null none nil nonetype',
  }).flatMap(([type, words]) => words.split(' ').map((word): [string, JsonSchema] => [word, { type }])),
  ['any', {}],
  ['date', { type: 'string', format: 'date' }],
  ['datetime', { type: 'string', format: 'date-time' }],
]);
const LONGEST_WORD_CHARACTERS = 200;

/** `int`, `List[str]`, `Optional[float]`, `string | null` -> the schema that they mean. */
export function readType(written: string): JsonSchema | undefined {
  const word = written.trim().slice(0, LONGEST_WORD_CHARACTERS);
  const plain = TYPE_WORDS.get(word.toLowerCase());
  if (plain) return plain;
  const parts = word.split(/\|(?![^[]*\])/);
  if (parts.length > 1) return union(parts);
  const [, outer = '', inner = ''] = /^(?:typing\.)?(\w+)\s*[[<](.*)[\]>]$/s.exec(word) ?? [];
  const arguments_ = inner.split(/,(?![^[]*\])/);
  if (/^optional$/i.test(outer)) return union([...arguments_, 'null']);
  if (/^union$/i.test(outer)) return union(arguments_);
  const known = TYPE_WORDS.get(outer.toLowerCase());
  const items = known?.type === 'array' && arguments_.length === 1 ? readType(inner) : undefined;
  return items ? { ...known, items } : known;
}

function union(words: readonly string[]): JsonSchema | undefined {
  const known = words.map(readType).filter((schema) => schema !== undefined);
  if (known.length < words.length) return undefined;
  const types = [...new Set(known.flatMap(typesOf))];
  return known.some(({ type }) => type === undefined) ? {} : Object.assign({}, ...known, { type: typeKeyword(types) });
}
