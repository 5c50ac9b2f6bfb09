/** Forms of codes: a request with `INV-120` is for a tool whose schema shows such a code ("e.g. INV-311"). */
import { oncePer } from '../kept.js';
import { MOST_READ } from '../request.js';
import { isNumber, objectOf } from './schema/json.js';
import { dereference } from './schema/references.js';
import type { JsonSchema, Tool } from './tool.js';

/** With the marks of a path, an address or a version. */
const WORD = /(?<!\p{Script=Latin})(?:\w+:\/\/\S+|[/\\~@]?[\w#]+(?:[./:@\\~-]+\w+)*)/gu;
/** `30m` and `19h30` are numbers with their units. */
const CODE = /^#?[a-z](?=.*\d)[\w-]+$/iu;
/** Most forms of a tool: a description can't show all of them, so that any code speaks for the tool. */
const MAX_FORMS = 16;
/** Arguments of each level that are looked at, and how deep; a schema that refers to itself has no end. */
const [MOST_NODES, MAX_DEPTH] = [400, 3];

/** The form of a code -> the code as it is written. */
export type Codes = ReadonlyMap<string, string>;

/**
 * The codes in a text by their forms: their letters, with 0 for each number. Paths, addresses and versions are no codes. Of several
 * codes of one form the first counts.
 *
 * @example codesIn('Number of the invoice, e.g. INV-120, due in 30d') // 'inv0' -> 'INV-120'
 */
export function codesIn(text: string): Codes {
  // Most texts of schemas hold no number, which is quickly seen.
  const words = (/\d/u.test(text) && text.slice(0, MOST_READ).match(WORD)) || [];
  const forms = words.map((word) => [codeFormOf(word), word] as const);
  return new Map(forms.flatMap(([form, code]) => (form === undefined ? [] : [[form, code] as const])).reverse());
}

/** The form of a word; undefined if it is no code. */
export function codeFormOf(word: string): string | undefined {
  if (!CODE.test(word)) return undefined;
  return word.toLowerCase().replaceAll(/\d+/gu, '0').replaceAll(/[_#-]/gu, '');
}

/** Those that the schema of an argument shows in its texts and examples; none of a number or of listed values. */
export function codesShown(schema: JsonSchema, root: JsonSchema): Codes {
  const items = dereference(root, schema.items) ?? {};
  const isOpen = (one: JsonSchema) => !isNumber(one) && !('enum' in one);
  const texts = [schema, items].filter(isOpen).flatMap((one) => [one.description, one.examples, one.example].flat());
  return codesIn(texts.filter((text) => typeof text === 'string').join(' '));
}

/** Those that the input schema of a tool shows, also within objects and lists. */
export const codesOf = oncePer(({ inputSchema }: Tool): Codes => {
  const found: (readonly [string, string])[] = [];
  let level: readonly JsonSchema[] = [inputSchema];
  for (let depth = 0; depth < MAX_DEPTH; depth++) {
    const nodes: unknown[] = [];
    for (const { properties } of level)
      if (nodes.length < MOST_NODES) nodes.push(...Object.values(objectOf(properties)));
    const schemas = nodes.slice(0, MOST_NODES).map((node) => dereference(inputSchema, node) ?? {});
    found.push(...schemas.flatMap((schema) => [...codesShown(schema, inputSchema)]));
    level = schemas.map(({ items, ...schema }) => (items ? (dereference(inputSchema, items) ?? {}) : schema));
  }
  return new Map(found.slice(0, MAX_FORMS));
});
