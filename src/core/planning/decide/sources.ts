/**
 * The sources of argument values. Each source lists its candidates for one place of a schema. The model chooses among these
 * alone, so it can't choose a value without a source.
 */
import { isNumber, isObject, typesOf } from '../../catalog/schema/json.js';
import { type Field, fieldsOf } from '../../catalog/schema/paths.js';
import { dereference } from '../../catalog/schema/references.js';
import { createStepBudget, findSafePattern } from '../../catalog/schema/safe-pattern.js';
import type { JsonSchema } from '../../catalog/tool.js';
import type { SourceName } from '../../result.js';
import { formOf, momentsIn } from '../times.js';
import { computedNumbers, lengthTexts } from './computed-numbers.js';
import type { Said } from './said.js';

export interface Candidate {
  readonly value: unknown;
  readonly from: SourceName;
  /** The words of the request that give the value; undefined if only the schema has it. */
  readonly said?: string;
  /** How the model reads a long text, or one of several lines. Default: the value. */
  readonly shown?: string;
}

/** A text that is set apart. @property outside the rest of the request, in small letters */
export interface SetApart extends Candidate {
  readonly value: string;
  readonly said: string;
  readonly shown: string;
  readonly outside: string;
}

/** The words of the request that give a value, else the value itself. */
export function wordsOf({ said, value }: Candidate): string {
  return said ?? String(value);
}

/** What the request has for an identifier. */
export interface Handle {
  /** Whether it holds a word of its form. */
  readonly isGiven: boolean;
  /** Its words that are identifiers by their form alone. */
  readonly codes: readonly string[];
}

/** The facts of the request and of earlier steps for the arguments of a step. */
export interface SourceContext {
  readonly said: Said;
  /** The request and the entities of the caller; with a history the ask, too. */
  readonly texts: readonly string[];
  /** Texts with words of other asks, or of several paragraphs: none of them is a value here. */
  readonly elsewhere: readonly string[];
  /** Texts that the request hands over as they stand. */
  readonly apart: readonly SetApart[];
  /** Runs of words of earlier messages, only for required arguments. */
  readonly earlier: readonly string[];
  /** References to fields of earlier results with their schemas; for a result without a schema only `${s1.`. */
  readonly results: readonly { readonly reference: string; readonly schema: JsonSchema | undefined }[];
  /** Identifier arguments by their names; the model never composes these. */
  readonly handles: ReadonlyMap<string, Handle>;
  readonly timeZone: string | undefined;
}

export interface Place {
  readonly name: string;
  readonly schema: unknown;
  readonly required: boolean;
}

/** A place whose schema has no `$ref` and no alternatives. */
export type PlainPlace = Place & { readonly schema: JsonSchema };

/** The input of sources: instead of the texts, their runs of words that no argument has taken; no references. */
type SourceInput = Omit<SourceContext, 'results' | 'texts' | 'elsewhere'> & { readonly spans: readonly string[] };

type Source = (place: PlainPlace, context: SourceInput) => readonly Candidate[];

const values = (from: SourceName, found: readonly unknown[]): Candidate[] => found.map((value) => ({ value, from }));

/** Values of the schema. */
const enumerated: Source = (place) => {
  const { schema } = place;
  if ('const' in schema) return values('enum', [schema.const]);
  if (!Array.isArray(schema.enum)) {
    const implied = impliedSwitch(place);
    const both = typesOf(schema).includes('boolean') ? [true, false] : [];
    return values(
      'enum',
      both.filter((value) => value !== implied),
    );
  }
  return values(
    'enum',
    schema.enum.filter((value) => value !== null),
  );
};

const computed: Source = ({ name, schema, required }, { said, timeZone }) => {
  if (isNumber(schema)) return computedNumbers(name, schema, said).map((one) => ({ ...one, from: 'computed' }));
  if (!isText(schema)) return [];
  // A bare number may be a year, but hardly where the schema names no day.
  const isDay = ({ text }: { text: string }) => formOf(schema) !== undefined || /\P{N}/u.test(text);
  const times = said.times.filter((time) => isDay(time) && (required || !time.isNow));
  const lengths = lengthTexts(schema, said);
  if (lengths.length > 0) return lengths.map((one) => ({ ...one, from: 'computed' }));
  return times.flatMap((time) =>
    momentsIn(formOf(schema), { ...said, times: [time] }, timeZone).map((value) => ({
      value,
      from: 'computed',
      said: time.text,
    })),
  );
};

const request: Source = ({ name, schema, required }, { said, spans, apart, earlier, handles }) => {
  if (!isNumber(schema)) {
    if (!isFreeText(schema)) return [];
    const all = required ? [...spans, ...earlier] : spans;
    return [...apart, ...values('request', withoutLabels(all, handles.get(name)?.codes ?? []))];
  }
  return said.numbers.map(({ value, text }) => ({ value, from: 'request', said: text }));
};

/** An identifier has no words around it, and the word before it says what it identifies. */
function withoutLabels(spans: readonly string[], codes: readonly string[]): readonly string[] {
  if (codes.length === 0) return spans;
  const all = new Set(spans);
  const isLabelled = (span: string) =>
    codes.some((code) => (span !== code && span.includes(code)) || all.has(`${span} ${code}`));
  return spans.filter((span) => !isLabelled(span));
}

const preset: Source = ({ schema, required }) =>
  required && 'default' in schema ? values('default', [schema.default]) : [];

const ALL: readonly Source[] = [enumerated, computed, request, preset];

/** The candidates for a place, each value once, from the first source that has it. */
export function candidatesFor(place: PlainPlace, context: SourceInput): Candidate[] {
  const found = new Map<string, Candidate>();
  const isWithin = boundsOf(place.schema);
  for (const source of isClosed(place.schema) ? [enumerated, preset] : ALL)
    for (const candidate of source(place, context)) {
      const key = JSON.stringify(candidate.value);
      if (!found.has(key) && isWithin(candidate.value)) found.set(key, candidate);
    }
  return [...found.values()];
}

/** The value that an optional boolean has where it is left out. */
export function impliedSwitch({ schema, required }: PlainPlace): boolean | undefined {
  return !required && typesOf(schema).includes('boolean') && typeof schema.default === 'boolean'
    ? schema.default
    : undefined;
}

export function isClosed(schema: JsonSchema): boolean {
  return 'const' in schema || Array.isArray(schema.enum);
}

export function isText(schema: JsonSchema): boolean {
  const types = typesOf(schema);
  return types.includes('string') || types.length === 0;
}

/** A text that may be any words. */
export function isFreeText(schema: JsonSchema): boolean {
  return isText(schema) && !isClosed(schema) && formOf(schema) === undefined;
}

export function isList(schema: JsonSchema): boolean {
  return typesOf(schema).includes('array') && !typesOf(schema).includes('string');
}

/** A check of values against the bounds of a schema. Untrusted patterns have a step budget, so none can hang the process. */
export function boundsOf(schema: JsonSchema): (value: unknown) => boolean {
  const { minimum, maximum, pattern, maxLength, minLength, format } = schema;
  const tried = typeof pattern === 'string' && pattern.length < 80 ? findSafePattern(pattern) : undefined;
  const budget = createStepBudget();
  return (value) => {
    if (typeof value === 'number') {
      if (!typesOf(schema).includes('number') && !Number.isInteger(value)) return false;
      return !(typeof minimum === 'number' && value < minimum) && !(typeof maximum === 'number' && value > maximum);
    }
    if (typeof value !== 'string' || Array.isArray(schema.enum)) return true;
    if (FORMS[String(format)]?.test(value) === false) return false;
    if (typeof maxLength === 'number' && value.length > maxLength) return false;
    if (typeof minLength === 'number' && value.length < minLength) return false;
    return tried === undefined || tried.matches(value, budget) === true;
  };
}

const FORMS: Readonly<Record<string, RegExp>> = {
  email: /^[^\s@]+@[^\s@]+$/u,
  uri: /^[a-z][a-z\d+.-]*:\S+$/iu,
  url: /^[a-z][a-z\d+.-]*:\S+$/iu,
  uuid: /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/iu,
};

/** Whether the format of a text leaves few words of a request as its value: an address, not a title. */
export function hasForm({ format }: JsonSchema): boolean {
  return String(format) in FORMS;
}

export function folded(text: string): string {
  return text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
}

/** The schema with `$ref` resolved and its alternatives replaced by the first that is not `null`. */
export function plainSchema(schema: unknown, root: JsonSchema, depth = 0): JsonSchema {
  const whole = dereference(root, schema);
  if (!whole || depth > 8) return {};
  const { anyOf, oneOf, allOf, ...own } = whole;
  const forms = [anyOf, oneOf, allOf].find(Array.isArray);
  const form = forms?.find((one) => isObject(one) && one.type !== 'null');
  return form === undefined ? whole : { ...plainSchema(form, root, depth + 1), ...own };
}

/** `${s1.`: the model must name the field. */
export function openReference(step: string): string {
  return `\${${step}.`;
}

const OPEN = /^\$\{s\d+\./u;

/** The open reference that a reference to a step begins with: `${s1.` of `${s1.rooms[0].id}`; else the text. */
export function beginningOf(reference: string): string {
  return OPEN.exec(reference)?.[0] ?? reference;
}

export function isOpenReference(value: unknown): value is string {
  return typeof value === 'string' && OPEN.exec(value)?.[0] === value;
}

/** The fields of a result down to four levels, through `$ref`, and through lists by their first item. */
export function resultFields(output: JsonSchema | undefined): Field[] {
  const fields = output ? fieldsOf(output, { steps: 4, fields: 40 }) : [];
  return fields.map(({ path, schema }) => ({ path, schema: plainSchema(schema, output ?? {}) }));
}
