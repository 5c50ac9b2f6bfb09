/**
 * Decides the arguments of one step: first the required ones in their order, then the optional ones. Each value is one choice
 * among the candidates of the sources, and `null` stands for "not given".
 */
import { isObject } from '../../catalog/schema/json.js';
import { fittedSchemas } from '../../catalog/schema/normalise.js';
import type { JsonSchema, Tool } from '../../catalog/tool.js';
import type { Choice } from '../../model/choices.js';
import type { SourceName } from '../../result.js';
import { weakest } from '../ground.js';
import { findReferences } from '../references.js';
import { formOf } from '../times.js';
import { choose, isLikelyGiven, NULL, type OptionalValue, removeNotGiven, writesNull } from './given.js';
import { createJsonWriter, type JsonWriter, NEXT, writeOn, writeOwnWords } from './json-writer.js';
import { type ChoiceContext, canTake, choicesFor, type Option, referencesFor, type TakenWords } from './options.js';
import type { Open } from './read.js';
import {
  type Candidate,
  isClosed,
  isList,
  isText,
  type Place,
  type PlainPlace,
  plainSchema,
  type SourceContext,
  wordsOf,
} from './sources.js';

export const OPENING = '{';

interface DecidedArguments {
  readonly arguments: Record<string, unknown>;
  readonly from: Record<string, SourceName>;
  readonly missing: readonly string[];
  readonly probability: number;
  readonly taken: TakenWords;
}

interface Writing extends ChoiceContext {
  readonly writer: JsonWriter;
  readonly open: Open;
  /** Settled values, which are forced. They belong to top-level arguments, never to nested objects. */
  readonly settled: ReadonlyMap<string, Candidate>;
  readonly depth: number;
  readonly taken: Map<string, string | undefined>;
  readonly optionals: OptionalValue[];
  /** The optional argument of the place. */
  readonly optional?: OptionalValue | undefined;
  /** Optional arguments that the request does not give; `released`: the words that this reading took for them. */
  readonly notGiven: Set<string>;
  readonly released: string[];
  /** Place in a list, from 0; undefined outside of lists. */
  readonly item?: number | undefined;
}

interface Value {
  readonly value: unknown;
  readonly from: SourceName;
  readonly probability: number;
}

const MAX_ITEMS = 50;
const MAX_DEPTH = 3;
const MAX_FIELD_TOKENS = 12;

type ReadPrompt = <T>(use: (open: Open) => Promise<T>) => Promise<T>;

/** @param question.settled references to earlier steps, or the next value of a repeated call */
export async function decideArguments(
  tool: Tool,
  question: {
    read: ReadPrompt;
    readUnasked: ReadPrompt;
    context: SourceContext;
    settled: ReadonlyMap<string, Candidate>;
    taken: TakenWords;
  },
): Promise<DecidedArguments> {
  const { read, readUnasked, context, settled } = question;
  const root = fittedSchemas(tool).input;
  const notGiven = new Set<string>();
  for (;;) {
    const optionals: OptionalValue[] = [];
    const taken = new Map(question.taken);
    const released: string[] = [];
    const writing = { root, context, settled, depth: 0, taken, optionals, notGiven, released };
    const { value, ...rest } = await read((open) =>
      writeObject(root, { ...writing, open, writer: createJsonWriter(open) }),
    );
    // With an argument missing, the caller decides again or asks the user.
    if (rest.missing.length === 0 && optionals.length > 0) await readUnasked((open) => removeNotGiven(optionals, open));
    // Words of a removed argument may belong to another one: "two packs" is a quantity, not a price.
    const others = Object.entries(Object(root.properties)).filter(([name]) => !(name in value || notGiven.has(name)));
    if (!others.some(([name, schema]) => canTake({ name, schema, required: false }, released, writing)))
      return { arguments: value, ...rest, taken };
  }
}

async function writeObject(schema: JsonSchema, writing: Writing) {
  const { writer, settled, optionals, taken, notGiven, released, depth } = writing;
  const properties = isObject(schema.properties) ? schema.properties : {};
  const listed: readonly unknown[] = Array.isArray(schema.required) ? schema.required : [];
  const isNeeded = (name: string) => listed.includes(name) || settled.has(name);
  const names = Object.keys(properties);
  const value: Record<string, unknown> = {};
  const from: Record<string, SourceName> = {};
  const missing: string[] = [];
  let probability = 1;
  let separator = '';
  for (const name of [...names.filter(isNeeded), ...names.filter((one) => !isNeeded(one))]) {
    const place = { name, schema: properties[name], required: listed.includes(name) };
    if (!isNeeded(name) && ((depth === 0 && notGiven.has(name)) || !isPossible(place, writing))) continue;
    writer.force(`${separator}${JSON.stringify(name)}: `);
    separator = ', ';
    const known = settled.get(name);
    const before = { taken: new Set(taken.keys()), optionals: optionals.length };
    const leaveOut = () => {
      for (const written of [value, from]) delete written[name];
      for (const words of took) taken.delete(words);
      if (depth > 0) return;
      released.push(...took);
      notGiven.add(name);
    };
    const optional = place.required || known !== undefined ? undefined : { decisions: [], leaveOut };
    const found = known
      ? await writeSettled(place, known, writing)
      : await writeValue(place, { ...writing, optional, item: undefined });
    const took = [...taken.keys()].filter((words) => !before.taken.has(words));
    if (!found || (optional && !(await isLikelyGiven(optional, writing)))) {
      optionals.length = before.optionals;
      for (const words of took) taken.delete(words);
      if (place.required) missing.push(name);
      continue;
    }
    value[name] = found.value;
    from[name] = found.from;
    probability = Math.min(probability, found.probability);
    if (optional) optionals.push(optional);
  }
  writer.force('}');
  return { value, from, missing, probability };
}

async function writeSettled(place: Place, known: Candidate, writing: Writing): Promise<Value> {
  const { value: settled, from } = known;
  const [value] = Array.isArray(settled) ? settled : [settled];
  if (!isOpen(value)) {
    writing.writer.force(JSON.stringify(settled));
    if (from !== 'step') writing.taken.set(wordsOf(known), undefined);
    return { value: settled, from, probability: 1 };
  }
  if (settled !== value) writing.writer.force('[');
  const schema = plainSchema(place.schema, writing.root);
  const fields = referencesFor(isList(schema) ? plainSchema(schema.items, writing.root) : schema, writing);
  const own = fields.filter(({ text, ends }) => ends === 'string' && text.startsWith(value, 1));
  const field =
    (own.length > 0 ? await writeBest(place, own, writing) : undefined) ??
    (await writeField(place, { value, probability: 1 }, writing.writer));
  if (settled === value) return field;
  writing.writer.force(']');
  return { ...field, value: [field.value] };
}

/** An open reference, `${s1.`: the model must name the field. */
function isOpen(value: unknown): value is string {
  return typeof value === 'string' && /^\$\{s\d+\.$/u.test(value);
}

function isPossible(place: Place, writing: Writing): boolean {
  const schema = plainSchema(place.schema, writing.root);
  if (isList(schema)) return isPossible({ ...place, schema: schema.items }, writing);
  if (isObject(schema.properties)) return writing.depth < MAX_DEPTH;
  return choicesFor({ ...place, schema }, writing).length > 0;
}

async function writeValue(place: Place, writing: Writing): Promise<Value | undefined> {
  const schema = plainSchema(place.schema, writing.root);
  const plain = { ...place, schema };
  if (isList(schema)) return writeList(plain, writing);
  if (isObject(schema.properties) && writing.depth < MAX_DEPTH) return writeInner(plain, writing);
  const isFree = isText(schema) && !isClosed(schema) && formOf(schema) === undefined;
  return writeChoice(plain, { ...writing, isFree });
}

const END: Choice = { text: ']', ends: 'close' };
/** `""` says nothing, so that the quotation mark counts alone. */
const QUOTE: Choice = { text: '"', ends: 'itself' };
const opens = (text: '[' | '{'): Choice => ({ text, ends: 'open' });

async function writeInner(place: PlainPlace, writing: Writing): Promise<Value | undefined> {
  const { writer } = writing;
  if (await writesNull(place, [opens('{')], writing)) return undefined;
  const mark = writer.mark();
  await choose([opens('{')], writing);
  writer.force('{');
  const inner = await writeObject(place.schema, { ...writing, settled: new Map(), depth: writing.depth + 1 });
  const sources = Object.values(inner.from);
  if (inner.missing.length === 0 && (sources.length > 0 || place.required)) {
    const from = sources.length > 0 ? weakest(sources) : 'default';
    return { value: inner.value, from, probability: inner.probability };
  }
  return writeNothing(writer, mark);
}

/** Replaces an incomplete value by `null`, since later choices would read it. */
function writeNothing(writer: JsonWriter, mark: ReturnType<JsonWriter['mark']>): undefined {
  writer.back(mark);
  writer.force(NULL.text);
}

async function writeList(place: PlainPlace, writing: Writing): Promise<Value | undefined> {
  const { writer } = writing;
  const { items, maxItems } = place.schema;
  const whole = choicesFor(place, writing).filter(({ candidate }) => candidate.from === 'step');
  const beginnings = [opens('['), ...whole];
  if (await writesNull(place, beginnings, writing)) return undefined;
  const mark = writer.mark();
  const best = await choose<Choice | Option>(beginnings, writing);
  if (best && 'candidate' in best.chosen) return write(place, best.chosen.candidate, best.probability, writing);
  const found: Value[] = [];
  const most = typeof maxItems === 'number' ? Math.min(MAX_ITEMS, maxItems) : MAX_ITEMS;
  writer.force('[');
  while (found.length < most) {
    if (found.length > 0) {
      const [next] = await writer.rank([NEXT, END]);
      if (next?.name !== NEXT.text) break;
      writer.force(NEXT.text);
    }
    const item = await writeValue(
      { name: place.name, schema: items, required: place.required },
      { ...writing, item: found.length, optional: found.length === 0 ? writing.optional : undefined },
    );
    if (!item || found.some(({ value }) => JSON.stringify(value) === JSON.stringify(item.value))) break;
    found.push(item);
    // Of what the request does not give, the model would list all words.
    if (writing.optional && !(await isLikelyGiven(writing.optional, writing))) return undefined;
  }
  const [first] = found;
  if (!first) return writeNothing(writer, mark);
  writer.force(']');
  return {
    value: found.map(({ value }) => value),
    from: weakest(found.map(({ from }) => from)),
    probability: Math.min(...found.map(({ probability }) => probability)),
  };
}

async function writeChoice(
  place: PlainPlace,
  { isFree, ...writing }: Writing & { isFree: boolean },
): Promise<Value | undefined> {
  const options = choicesFor(place, writing);
  const canCompose = isFree && !writing.context.handles.has(place.name);
  const beginnings = options.length === 0 && canCompose ? [QUOTE] : options;
  if (await writesNull(place, beginnings, writing)) return undefined;
  const mark = writing.writer.mark();
  const own = canCompose ? await writeOwnWords(place.schema, options, writing) : undefined;
  const best = own ? undefined : await choose(options, writing);
  const copied = canCompose && best?.chosen.candidate.from === 'request' ? best.chosen.candidate : undefined;
  const longer = copied && (await writeOn(wordsOf(copied), place.schema, writing));
  const composed = own ?? longer;
  if (!composed) return best && write(place, best.chosen.candidate, best.probability, writing);
  if (longer) writing.optional?.decisions.pop();
  if (copied) writing.taken.set(wordsOf(copied), undefined);
  writing.optional?.decisions.push({ mark, choices: [QUOTE, NULL], choice: QUOTE });
  return { value: composed.text, from: 'composed', probability: composed.probability };
}

async function writeBest(place: Place, options: readonly Option[], writing: Writing): Promise<Value | undefined> {
  const best = await choose(options, writing);
  return best && write(place, best.chosen.candidate, best.probability, writing);
}

async function write(place: Place, chosen: Candidate, probability: number, { writer, taken }: Writing): Promise<Value> {
  const { value, from } = chosen;
  // An open reference serves one argument, as words do.
  if (isOpen(value)) taken.set(value, undefined);
  if (isOpen(value)) return writeField(place, { value, probability }, writer);
  writer.force(JSON.stringify(value));
  // Computed values do not take the words: both ends of a window share them.
  if (from === 'request') taken.set(wordsOf(chosen), typeof value === 'number' ? place.name : undefined);
  if (from === 'computed') taken.set(String(value), place.name);
  return { value, from, probability };
}

/** Lets the model name the field of a result without a schema; an invalid name becomes the name of the argument. */
async function writeField(
  { name }: Place,
  start: { value: string; probability: number },
  writer: JsonWriter,
): Promise<Value> {
  writer.force(`"${start.value}`);
  const { text, probability } = await writer.writeText(MAX_FIELD_TOKENS);
  writer.force('"');
  const [reference] = findReferences(start.value + text);
  const isWhole = reference?.whole === true && reference.path.length > 0;
  const value = isWhole ? reference.text : `${start.value}${name}}`;
  return { value, from: 'step', probability: Math.min(start.probability, probability) };
}
