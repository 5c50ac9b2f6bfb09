/**
 * Writes the arguments of one step: first the required ones in their order, then the optional ones. Each value is one choice
 * among the candidates of the sources, and `null` stands for "not given".
 */
import { isNumber, isObject, listOf } from '../../catalog/schema/json.js';
import type { JsonSchema } from '../../catalog/tool.js';
import type { Choice } from '../../model/choices.js';
import type { SourceName } from '../../result.js';
import { weakest } from '../ground.js';
import { type ChoiceWriting, ownerOfNumber, type Value, write, writeChoice, writeSettled } from './choice.js';
import { type Awaiting, choose, isLikelyGiven, NULL, type OptionalValue, valueOdds, writesNull } from './given.js';
import { goesOn, type JsonWriter } from './json-writer.js';
import { choiceOf, choicesFor, type Option, takesLength } from './options.js';
import { type Candidate, impliedSwitch, isList, type Place, type PlainPlace, plainSchema } from './sources.js';

export interface Writing extends ChoiceWriting {
  /** Settled values, which are forced. They belong to top-level arguments, never to nested objects. */
  readonly settled: ReadonlyMap<string, Candidate>;
  readonly depth: number;
  /** Whether another step waits for the result. */
  readonly isLookup: boolean;
  readonly optionals: OptionalValue[];
  /** Optional identifiers that another tool finds, and what the model would write for them. */
  readonly lookups: Names;
  readonly awaiting: Awaiting[];
  /** Optional arguments that the request does not give. */
  readonly notGiven: Set<string>;
}

const MAX_ITEMS = 50;
const MAX_DEPTH = 3;

export type Names = Pick<ReadonlySet<string>, 'has'>;

export async function writeObject(schema: JsonSchema, writing: Writing) {
  const { root, context, writer, settled, optionals, taken, notGiven, depth, lookups, awaiting } = writing;
  const properties = isObject(schema.properties) ? schema.properties : {};
  const listed = listOf(schema.required);
  const isNeeded = (name: string) => listed.includes(name) || settled.has(name);
  const names = Object.keys(properties);
  const value: Record<string, unknown> = {};
  const from: Record<string, SourceName> = {};
  const missing: string[] = [];
  const added = new Set<string>();
  const isFree = ({ name }: Place) => !added.has(name) && !(depth === 0 && notGiven.has(name));
  const numeric = context.said.numbers.length > 0 ? names.map(placeOf).filter((one) => isNumber(one.schema)) : [];
  let probability = 1;
  let separator = '';
  // The next value of a repeated call comes first, since the others go with it.
  const isFirst = (name: string) => (settled.get(name)?.from ?? 'step') !== 'step';
  const needed = names.filter(isNeeded);
  for (const name of needed.toSorted((one, other) => Number(isFirst(other)) - Number(isFirst(one)))) await add(name);
  const optional = names.filter((name) => !isNeeded(name) && !(depth === 0 && notGiven.has(name)));
  const isLengthOf = (name: string) => takesLength(name, placeOf(name).schema);
  const isCountOf = (name: string) =>
    context.said.durations.length > 0 && isNumber(placeOf(name).schema) && !isLengthOf(name);
  const isOpen = (name: string) => isPossible({ name, schema: properties[name], required: false }, writing);
  let open = optional.filter((name) => !added.has(name) && isOpen(name));
  while (open.length > 0) {
    const likeliest = await likeliestOf(open);
    // "The last 15 minutes" is a length, before its 15 is a number of something else.
    const next = (isCountOf(likeliest) && open.find(isLengthOf)) || likeliest;
    const before = taken.size;
    await add(next);
    // Only words that were taken can leave another argument without a value.
    open = open.filter((name) => !added.has(name) && (taken.size === before || isOpen(name)));
  }
  for (const name of optional) if (depth === 0 && lookups.has(name)) await add(name);
  writer.force('}');
  return { value, from, missing, probability };

  function placeOf(name: string): PlainPlace {
    return { name, schema: plainSchema(properties[name], root), required: listed.includes(name) };
  }

  async function add(name: string): Promise<void> {
    if (added.has(name)) return;
    added.add(name);
    const place = placeOf(name);
    const isEmpty = !isNeeded(name) && !isPossible(place, writing);
    const isLookup = isEmpty && depth === 0 && lookups.has(name);
    if (isEmpty && !isLookup) return;
    const owner = settled.has(name)
      ? undefined
      : await ownerOfNumber(place, numeric.filter(isFree), separator, writing);
    if (owner !== undefined) await add(owner);
    writer.force(`${separator}${JSON.stringify(name)}: `);
    separator = ', ';
    if (isLookup) {
      awaiting.push({ name, mark: writer.mark(), odds: await valueOdds(writer) });
      writer.force(NULL.text);
      return;
    }
    const known = settled.get(name);
    const before = { taken: new Set(taken.keys()), optionals: optionals.length };
    const leaveOut = () => {
      for (const written of [value, from]) delete written[name];
      for (const words of took) taken.delete(words);
      if (depth === 0) notGiven.add(name);
    };
    const isOptional = !place.required && known === undefined;
    const optional = isOptional ? { name, decisions: [], unsaid: unsaidFor(place, writing), leaveOut } : undefined;
    const found = known
      ? await writeSettled(place, known, writing)
      : await writeValue(place, { ...writing, optional, item: undefined });
    const took = [...taken.keys()].filter((words) => !before.taken.has(words));
    if (!found || (optional && !(await isLikelyGiven(optional, writing)))) {
      optionals.length = before.optionals;
      for (const words of took) taken.delete(words);
      if (place.required) missing.push(name);
      return;
    }
    value[name] = found.value;
    from[name] = found.from;
    probability = Math.min(probability, found.probability);
    if (optional) optionals.push({ ...optional, value: found.value, isComputed: found.from === 'computed' });
  }

  /** The name that the model would write next, so that it gets its words before others can take them. */
  async function likeliestOf(open: readonly string[]): Promise<string> {
    const keys = open.map((name) => ({ text: `${separator}${JSON.stringify(name)}: `, ends: 'itself', name }) as const);
    const [best] = keys.length > 1 ? await writer.rank(keys) : [];
    return (keys.find(({ text }) => text === best?.name) ?? keys[0])?.name ?? '';
  }
}

function unsaidFor(place: Place, { root }: Writing): Choice[] {
  const implied = impliedSwitch({ ...place, schema: plainSchema(place.schema, root) });
  return implied === undefined ? [NULL] : [NULL, choiceOf(implied)];
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
  return writeChoice(plain, writing);
}

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
    if (found.length > 0 && !(await goesOn(writer))) break;
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
