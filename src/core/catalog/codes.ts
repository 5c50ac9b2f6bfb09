/** Forms of codes: a request with `INV-120` is for a tool whose schema shows such a code ("e.g. INV-311"). */
import { oncePer } from '../kept.js';
import { MOST_READ } from '../request.js';
import { isObject, objectOf } from './schema/json.js';
import { dereference } from './schema/paths.js';
import type { JsonSchema, Tool } from './tool.js';

/** With the marks of a path, an address or a version. */
const WORD = /\w+:\/\/\S+|[/\\~@]?[\w#]+(?:[./:@\\~-]+\w+)*/gu;
const CODE = /^(?=.*\d)(?=.*[a-z])[#\w-]+$/iu;
/** `30m` and `24-hour` are numbers with their units. */
const WITH_UNIT = /^\d+-?[a-z]+$/iu;

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
  const codes = words.filter((word) => CODE.test(word) && !WITH_UNIT.test(word));
  return new Map(codes.map((code) => [formOf(code), code] as const).reverse());
}

function formOf(code: string): string {
  return code.toLowerCase().replaceAll(/\d+/gu, '0').replaceAll(/[_#-]/gu, '');
}

/** Those that the schema of an argument shows, in its texts, its examples and the values that it lists. */
export function codesShown(schema: JsonSchema, root: JsonSchema): Codes {
  const items = dereference(root, schema.items) ?? {};
  const texts = [schema, items].flatMap((one) => [one.description, one.examples, one.example, one.enum].flat());
  return codesIn(texts.filter((text) => typeof text === 'string').join(' '));
}

const MAX_DEPTH = 3;

/** Those that the input schema of a tool shows, also within objects and lists. */
export const codesOf = oncePer(({ inputSchema }: Tool): Codes => {
  const within = (schema: JsonSchema, depth: number): (readonly [string, string])[] =>
    Object.values(objectOf(schema.properties)).flatMap((node) => {
      const whole = dereference(inputSchema, node) ?? {};
      const inner = whole.type === 'array' ? (dereference(inputSchema, whole.items) ?? {}) : whole;
      const deeper = isObject(inner.properties) && depth < MAX_DEPTH ? within(inner, depth + 1) : [];
      return [...codesShown(whole, inputSchema), ...deeper];
    });
  return new Map(within(inputSchema, 1));
});
