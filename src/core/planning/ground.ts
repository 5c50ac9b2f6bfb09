/** Labels the arguments of a written plan with their sources, in the terms of decided plans. */
import { isObject } from '../catalog/schema/json.js';
import { fittedSchemas } from '../catalog/schema/normalise.js';
import type { JsonSchema, Tool } from '../catalog/tool.js';
import type { Request } from '../request.js';
import type { SourceName, Step } from '../result.js';
import { UNSPACED } from './decide/options.js';
import { readSaid, type Said } from './decide/said.js';
import { folded, isClosed, plainSchema } from './decide/sources.js';
import { lengthIn, rounded, UNITS } from './durations.js';
import { findReferences } from './references.js';
import { formOf, momentsIn } from './times.js';

interface Known {
  readonly said: Said;
  readonly text: string;
  /** The text reduced to letters and digits. */
  readonly letters: string;
  readonly timeZone: string | undefined;
}

export const NOTHING_SAID: Said = { times: [], numbers: [], durations: [] };

/**
 * Labels each argument with its source and changes no value. `unknown` marks an identifier, a number or a moment that
 * neither the request nor an earlier step contains.
 */
export async function groundSteps(
  steps: readonly Step[],
  { tools, request }: { tools: ReadonlyMap<string, Tool>; request: Request },
): Promise<Step[]> {
  const { message, history = [], entities = {}, timeZone } = request;
  const spoken = [message, ...history.map(({ content }) => content), JSON.stringify(entities)].join('\n');
  const known = { text: spoken, letters: folded(spoken), timeZone };
  const labelled = labelSteps(steps, tools, { ...known, said: NOTHING_SAID });
  // Recognizing times and numbers takes longest, so it runs only for values that are not in the request verbatim.
  const isClear = labelled.every(({ from = {} }) => !Object.values(from).includes('unknown'));
  return isClear ? labelled : labelSteps(steps, tools, { ...known, said: await readSaid(request) });
}

function labelSteps(steps: readonly Step[], tools: ReadonlyMap<string, Tool>, known: Known): Step[] {
  return steps.map((step) => {
    const tool = tools.get(step.tool);
    const root = tool ? fittedSchemas(tool).input : {};
    const properties = isObject(root.properties) ? root.properties : {};
    const sources = new Map(Object.entries(step.from ?? {}));
    const from = Object.entries(step.arguments).map(([name, value]) => {
      const isFilled = sources.get(name) === 'default';
      const place = { schema: plainSchema(properties[name], root), root };
      return [name, isFilled ? 'default' : sourceOf(value, place, known)] as const;
    });
    return { ...step, from: Object.fromEntries(from) };
  });
}

/** From the most to the least certain. A list or an object is as certain as its least certain part. */
const ORDER: readonly SourceName[] = ['step', 'request', 'enum', 'default', 'computed', 'composed', 'unknown'];

interface Place {
  readonly schema: JsonSchema;
  /** The schema in which `$ref` is resolved. */
  readonly root: JsonSchema;
}

function sourceOf(value: unknown, { schema, root }: Place, known: Known): SourceName {
  const inside = (part: unknown) => ({ schema: plainSchema(part, root), root });
  if (Array.isArray(value)) return weakest(value.map((item) => sourceOf(item, inside(schema.items), known)));
  if (isObject(value)) {
    const properties = isObject(schema.properties) ? schema.properties : {};
    return weakest(Object.entries(value).map(([name, inner]) => sourceOf(inner, inside(properties[name]), known)));
  }
  if (typeof value === 'string' && findReferences(value).length > 0) return 'step';
  if (isClosed(schema) || typeof value === 'boolean') return 'enum';
  if ('default' in schema && schema.default === value) return 'default';
  return typeof value === 'number' ? sourceOfNumber(value, known) : sourceOfText(String(value), schema, known);
}

function sourceOfNumber(value: number, { said, text }: Known): SourceName {
  if (said.numbers.some((one) => one.value === value) || saysNumber(text, value)) return 'request';
  const isLength = said.durations.some((one) => UNITS.some((unit) => lengthIn(unit, one) === value));
  const isFraction = said.numbers.some((one) => one.isPercent && rounded(one.value / 100) === value);
  return isLength || isFraction ? 'computed' : 'unknown';
}

function sourceOfText(value: string, schema: JsonSchema, known: Known): SourceName {
  if (saysText(known, value)) return 'request';
  const form = formOf(schema);
  if (momentsIn(form, known.said, known.timeZone).some((moment) => isSameMoment(moment, value))) return 'computed';
  return form !== undefined || isIdentifier(value) ? 'unknown' : 'composed';
}

/** Whether the text has the number as a whole: "1504" does not contain 50, nor "10.50" 1050. */
function saysNumber(text: string, value: number): boolean {
  const digits = String(value).replaceAll('.', '\\.');
  return new RegExp(`(?<![\\d.,])${digits}(?!\\d|[.,]\\d)`, 'u').test(text);
}

/**
 * Whether the text has the value as whole words, ignoring all but letters and digits: "annual" does not contain "ann".
 * A value without letters and digits must occur verbatim.
 */
export function saysText({ text, letters }: Pick<Known, 'text' | 'letters'>, value: string): boolean {
  const wanted = folded(value);
  if (wanted === '') return value !== '' && text.includes(value);
  if (!letters.includes(wanted)) return false;
  const between = '[^\\p{L}\\p{N}]*';
  const found = text.matchAll(new RegExp([...wanted].join(between), 'giu'));
  return [...found].some(({ 0: words, index }) => {
    const before = text.slice(0, index).at(-1) ?? '';
    const behind = text[index + words.length] ?? '';
    return !isSameWord(before, words.at(0) ?? '') && !isSameWord(words.at(-1) ?? '', behind);
  });
}

/** Whether two adjacent characters belong to one word: two digits, or two letters of a script with spaces. */
function isSameWord(one: string, other: string): boolean {
  const isLetter = (text: string) => /\p{L}/u.test(text) && !UNSPACED.test(text);
  return (/\d/u.test(one) && /\d/u.test(other)) || (isLetter(one) && isLetter(other));
}

/** Whether two moments differ only by `:00` and a zone at the end. */
function isSameMoment(one: string, other: string): boolean {
  const [short, long] = one.length < other.length ? [one, other] : [other, one];
  const more = long.slice(short.length);
  return long.startsWith(short) && /^(?:T00:00)?(?::00)?(?:\.0+)?(?:Z|[+-]\d\d:?\d\d)?$/u.test(more);
}

/** One word with digits, an address or a path; a model must copy these and never compose them. */
export function isIdentifier(value: string): boolean {
  return !/\s/u.test(value) && /[\d@/:_]/u.test(value);
}

export function weakest(sources: readonly SourceName[]): SourceName {
  return ORDER.findLast((source) => sources.includes(source)) ?? 'composed';
}
