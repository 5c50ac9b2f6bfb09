/**
 * The arguments of one step: the required ones in their order, then the optional ones that the model goes on to. Each value
 * is a choice among what the sources have for it.
 */
import { isObject, typesOf } from '../../catalog/schema/json.js';
import { fits } from '../../catalog/schema/paths.js';
import type { JsonSchema, Tool } from '../../catalog/tool.js';
import type { TokenReader } from '../../model/model.js';
import type { SourceName } from '../../result.js';
import { fittedSchemas } from '../fitted.js';
import { createJsonWriter, type JsonWriter } from './json-writer.js';
import {
  type Candidate,
  candidatesFor,
  folded,
  isClosed,
  isDuration,
  isNumber,
  isText,
  plainSchema,
  type SourceContext,
} from './sources.js';
import { formOf } from './times.js';

/** What the answer begins with. */
export const OPENING = '{';

export interface DecidedArguments {
  readonly arguments: Record<string, unknown>;
  readonly from: Record<string, SourceName>;
  /** Required arguments without a source. */
  readonly missing: readonly string[];
  /** Of the least sure choice. */
  readonly probability: number;
}

interface Writing {
  readonly writer: JsonWriter;
  readonly root: JsonSchema;
  readonly context: SourceContext;
  /** References that are settled: they are forced. Only of the arguments themselves, not of objects inside. */
  readonly references: ReadonlyMap<string, unknown>;
  readonly depth: number;
  /** Words of the request and said values that an argument of the step has taken. */
  readonly used: Set<string>;
}

interface Place {
  readonly name: string;
  readonly schema: unknown;
  readonly required: boolean;
}

interface Value {
  readonly value: unknown;
  readonly from: SourceName;
  readonly probability: number;
}

const MAX_ITEMS = 8;
const MAX_DEPTH = 3;
const MAX_TEXT_TOKENS = 120;
/**
 * An optional argument is written where leaving it out is at most so likely beside it: by whether the request names a value
 * (a day, a number, a value of an enum) or only has words for it. Without either it is left out.
 */
const LEAVE_OUT = { named: 0.9, words: 0.1 };
/** "Not said" has to be so likely that a required argument is asked back. */
const NOT_SAID = 0.5;
/** A text that no run of the request's words begins like is the model's own, where it is so sure of its beginning. */
const OWN_WORDS = 0.5;

/** @param question.references arguments that are settled already: references to earlier steps */
export async function decideArguments(
  tool: Tool,
  question: { reader: TokenReader; context: SourceContext; references: ReadonlyMap<string, unknown> },
): Promise<DecidedArguments> {
  const { reader, context, references } = question;
  const root = fittedSchemas(tool).input;
  const writer = createJsonWriter(reader);
  const { value, from, missing, probability } = await writeObject(root, {
    writer,
    root,
    context,
    references,
    depth: 0,
    used: new Set(),
  });
  return { arguments: value, from, missing, probability };
}

/** Writes behind `{` and up to `}`. */
async function writeObject(schema: JsonSchema, writing: Writing) {
  const { writer, references } = writing;
  const properties = isObject(schema.properties) ? schema.properties : {};
  const listed: readonly unknown[] = Array.isArray(schema.required) ? schema.required : [];
  const required = Object.keys(properties).filter((name) => listed.includes(name));
  const value: Record<string, unknown> = {};
  const from: Record<string, SourceName> = {};
  const missing: string[] = [];
  let probability = 1;
  const keyOf = (name: string) =>
    `${Object.keys(from).length + missing.length > 0 ? ', ' : ''}${JSON.stringify(name)}: `;
  const write = async (name: string) => {
    const settled = references.get(name);
    writer.force(keyOf(name));
    const place = { name, schema: properties[name], required: required.includes(name) };
    const found: Value | undefined =
      settled === undefined ? await writeValue(place, writing) : { value: settled, from: 'step', probability: 1 };
    if (settled !== undefined) writer.force(JSON.stringify(settled));
    if (found === undefined) {
      writer.force('null');
      missing.push(name);
      return;
    }
    value[name] = found.value;
    from[name] = found.from;
    probability = Math.min(probability, found.probability);
  };
  for (const name of [...required, ...[...references.keys()].filter((one) => !required.includes(one))])
    await write(name);
  const lost = [...missing];
  const optional = Object.keys(properties).filter((name) => !(name in from) && !required.includes(name));
  let open = new Map(
    optional.flatMap((name) => supportFor({ name, schema: properties[name], required: false }, writing)),
  );
  while (open.size > 0) {
    const choices = [...[...open.keys()].map(keyOf), '}'].map((text) => ({ text, ends: 'itself' as const }));
    const ranked = await writer.rank(choices, choices.length);
    const end = ranked.find(({ name }) => name === '}')?.probability ?? 0;
    const shareOfEnd = (name: string) =>
      end / (end + (ranked.find((one) => one.name === keyOf(name))?.probability ?? 0) || 1);
    const next = [...open]
      .map(([name, support]) => ({ name, margin: LEAVE_OUT[support] - shareOfEnd(name) }))
      .filter(({ margin }) => margin >= 0)
      .sort((a, b) => b.margin - a.margin)[0];
    if (!next) break;
    await write(next.name);
    open = new Map([...open].filter(([name]) => name !== next.name));
  }
  writer.force('}');
  return { value, from, missing: lost, probability };
}

/** What the request has for an optional argument, by its name; empty where it has nothing. */
function supportFor(place: Place, writing: Writing): [string, keyof typeof LEAVE_OUT][] {
  const schema = plainSchema(place.schema, writing.root);
  if (isList(schema)) return supportFor({ ...place, schema: schema.items }, writing);
  const candidates = available({ ...place, schema }, writing);
  if (candidates.some(({ said }) => said !== undefined)) return [[place.name, 'named']];
  return candidates.some(({ from }) => from === 'request') ? [[place.name, 'words']] : [];
}

/**
 * What is said once serves one argument of a step, unless a required one has no other value. A window of time that is said
 * by its length goes where a length is asked for.
 */
function available(place: Place & { schema: JsonSchema }, { context, used, root }: Writing): Candidate[] {
  const properties = Object.entries(isObject(root.properties) ? root.properties : {});
  const takesLength = properties.some(([name, schema]) => {
    const plain = plainSchema(schema, root);
    return isNumber(plain) && isDuration(name, plain);
  });
  const lengths = new Set(takesLength && !isNumber(place.schema) ? context.said.durations.map(({ text }) => text) : []);
  const all = candidatesFor(place, context).filter(({ said }) => said === undefined || !lengths.has(said));
  const taken = place.required ? [] : [...used, ...context.said.times.map(({ text }) => text)];
  const fresh = all.filter(({ value, from }) => {
    if (from !== 'request' || typeof value !== 'string') return !used.has(String(value));
    return !taken.some((text) => text.includes(value) || value.includes(text));
  });
  return place.required && fresh.length === 0 ? all : fresh;
}

function isList(schema: JsonSchema): boolean {
  return typesOf(schema).includes('array') && !typesOf(schema).includes('string');
}

/** Writes one value; `undefined`, and nothing is written, where no source has one. */
async function writeValue(place: Place, writing: Writing): Promise<Value | undefined> {
  const schema = plainSchema(place.schema, writing.root);
  if (isList(schema)) return writeList({ ...place, schema }, writing);
  if (isObject(schema.properties) && writing.depth < MAX_DEPTH) return writeInner(schema, writing);
  const isFree = isText(schema) && !isClosed(schema) && formOf(schema) === undefined;
  return isFree ? writeText({ ...place, schema }, writing) : writeChoice({ ...place, schema }, writing);
}

async function writeInner(schema: JsonSchema, writing: Writing): Promise<Value | undefined> {
  writing.writer.force('{');
  const inner = await writeObject(schema, { ...writing, references: new Map(), depth: writing.depth + 1 });
  const [from = 'request'] = Object.values(inner.from);
  return inner.missing.length > 0 ? undefined : { value: inner.value, from, probability: inner.probability };
}

async function writeList(place: Place & { schema: JsonSchema }, writing: Writing): Promise<Value | undefined> {
  const { writer } = writing;
  const { items, maxItems } = place.schema;
  const found: Value[] = [];
  const most = typeof maxItems === 'number' ? Math.min(MAX_ITEMS, maxItems) : MAX_ITEMS;
  writer.force('[');
  while (found.length < most) {
    if (found.length > 0) {
      const [next] = await writer.rank([', ', ']'].map((text) => ({ text, ends: 'itself' as const })));
      if (next?.name !== ', ') break;
      writer.force(', ');
    }
    const item = await writeValue(
      { name: place.name, schema: items, required: place.required && found.length === 0 },
      writing,
    );
    if (!item || found.some(({ value }) => JSON.stringify(value) === JSON.stringify(item.value))) break;
    found.push(item);
  }
  const [first] = found;
  if (!first) return undefined;
  writer.force(']');
  return {
    value: found.map(({ value }) => value),
    from: first.from,
    probability: Math.min(...found.map(({ probability }) => probability)),
  };
}

/** One of a closed set: values of an enum, numbers and moments that were said. */
async function writeChoice(place: Place & { schema: JsonSchema }, writing: Writing): Promise<Value | undefined> {
  const { writer, used } = writing;
  const byText = new Map(available(place, writing).map((one) => [JSON.stringify(one.value), one]));
  if (byText.size === 0) return undefined;
  const [best] = await writer.rank([...byText.keys()].map(choiceOf));
  const chosen = best && (byText.get(best.name) ?? byText.get(`${best.name}"`));
  if (!best || !chosen) return undefined;
  writer.force(JSON.stringify(chosen.value));
  if (chosen.said !== undefined && !isClosed(place.schema)) used.add(String(chosen.value));
  return { ...chosen, probability: best.probability };
}

/** Of a string all tokens that can end it count, so its own end is left to the trie. */
function choiceOf(json: string) {
  return json.startsWith('"')
    ? { text: json.slice(0, -1), ends: 'string' as const }
    : { text: json, ends: 'plain' as const };
}

/** A string without a closed set of values: words of the request, a reference, or the model's own words. */
async function writeText(place: Place & { schema: JsonSchema }, writing: Writing): Promise<Value | undefined> {
  const { writer, context, used } = writing;
  const { name, schema, required } = place;
  if (required) {
    const ranked = await writer.rank(
      [
        { text: '"', ends: 'itself' },
        { text: 'null', ends: 'plain' },
      ],
      2,
    );
    if ((ranked.find((one) => one.name === 'null')?.probability ?? 0) > NOT_SAID) return undefined;
  }
  const references = context.results.filter((one) => fits(one.schema, schema));
  const known: Candidate[] = [
    ...references.map(({ reference }): Candidate => ({ value: reference, from: 'step' })),
    ...available(place, writing),
  ];
  const byText = new Map(known.map((one) => [JSON.stringify(one.value).slice(1, -1), one]));
  if (byText.size === 0) return undefined;
  writer.force('"');
  const [next] = await writer.likeliest(1);
  const isCopied = [...byText.keys()].some((text) => text.startsWith(next?.text ?? '') || next?.text.startsWith(text));
  if (!isCopied && next && next.probability > OWN_WORDS && !context.handles.has(name)) {
    const written = await writer.writeText(MAX_TEXT_TOKENS);
    writer.force('"');
    // What stands in the schema as an example is nobody's word.
    if (folded(JSON.stringify(schema)).includes(folded(written.text))) return undefined;
    return { value: written.text, from: 'composed', probability: written.probability };
  }
  const [best] = await writer.rank([...byText.keys()].map((text) => ({ text, ends: 'string' })));
  const chosen = best && byText.get(best.name);
  if (!best || !chosen) return undefined;
  writer.force(`${best.name}"`);
  used.add(String(chosen.value));
  return { ...chosen, probability: best.probability };
}
