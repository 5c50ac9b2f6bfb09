/**
 * The arguments of one step: required ones in their order, then the optional ones that the model goes on to. Each value is
 * a choice among what the sources have for it.
 */
import { isObject, typesOf } from '../../catalog/schema/json.js';
import { fits } from '../../catalog/subschema.js';
import type { JsonSchema, Tool } from '../../catalog/tool.js';
import type { TokenReader } from '../../model/model.js';
import { fittedSchemas } from '../fitted.js';
import { createJsonWriter, type JsonWriter } from './json-writer.js';
import { type Candidate, candidatesFor, isText, plainSchema, type SourceContext, type SourceName } from './sources.js';
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
}

interface Decided {
  readonly value: unknown;
  readonly from: SourceName;
  readonly probability: number;
}

const MAX_ITEMS = 8;
const MAX_DEPTH = 3;
const MAX_TEXT_TOKENS = 120;

/** @param given arguments that are settled already: references to earlier steps */
export async function decideArguments(
  tool: Tool,
  { reader, context, given }: { reader: TokenReader; context: SourceContext; given: ReadonlyMap<string, string> },
): Promise<DecidedArguments> {
  const root = fittedSchemas(tool).input;
  const writing = { writer: createJsonWriter(reader), root, context };
  const from: Record<string, SourceName> = {};
  const missing: string[] = [];
  const decided = await writeObject(
    root,
    { ...writing, depth: 0 },
    {
      settled: given,
      onValue: (name, source) => {
        from[name] = source;
      },
      onMissing: (name) => missing.push(name),
    },
  );
  return { arguments: decided.value, from, missing, probability: decided.probability };
}

interface ObjectHooks {
  readonly settled: ReadonlyMap<string, string>;
  onValue(name: string, from: SourceName): void;
  onMissing(name: string): void;
}

/** Writes behind `{` and up to `}`. */
async function writeObject(
  schema: JsonSchema,
  writing: Writing & { depth: number },
  hooks: ObjectHooks,
): Promise<{ value: Record<string, unknown>; probability: number }> {
  const { writer } = writing;
  const properties = isObject(schema.properties) ? schema.properties : {};
  const required = (Array.isArray(schema.required) ? schema.required : []).filter(
    (name): name is string => typeof name === 'string' && name in properties,
  );
  const value: Record<string, unknown> = {};
  let probability = 1;
  let comma = '';
  const keyOf = (name: string) => `${comma}${JSON.stringify(name)}: `;
  const write = async (name: string, isRequired: boolean) => {
    const settled = hooks.settled.get(name);
    writer.force(keyOf(name));
    comma = ', ';
    if (settled !== undefined) {
      writer.force(JSON.stringify(settled));
      value[name] = settled;
      hooks.onValue(name, 'step');
      return;
    }
    const decided = await writeValue({ name, schema: properties[name], required: isRequired }, writing);
    if (decided === undefined) {
      writer.force('null');
      if (isRequired) hooks.onMissing(name);
      return;
    }
    value[name] = decided.value;
    probability = Math.min(probability, decided.probability);
    hooks.onValue(name, decided.from);
  };
  for (const name of required) await write(name, true);
  for (const name of Object.keys(properties).filter((one) => hooks.settled.has(one) && !required.includes(one)))
    await write(name, false);
  let optional = Object.keys(properties).filter(
    (name) => !(name in value) && !required.includes(name) && hasSource(name, properties[name], writing),
  );
  while (optional.length > 0) {
    const ranked = await writer.rank(
      [...optional.map((name) => ({ text: keyOf(name), ends: 'itself' as const })), { text: '}', ends: 'itself' }],
      optional.length + 1,
    );
    const end = ranked.find(({ name }) => name === '}')?.probability ?? 0;
    const [best] = ranked;
    if (!best || best.name === '}' || end > LEAVE_OUT) break;
    const name = optional.find((one) => keyOf(one) === best.name);
    if (name === undefined) break;
    await write(name, false);
    optional = optional.filter((one) => one !== name);
  }
  writer.force('}');
  return { value, probability };
}

/** An optional argument is written where the model is surer of it than of ending. */
const LEAVE_OUT = Number(process.env.V_OPT ?? 0.5);

function hasSource(name: string, schema: unknown, { root, context, depth }: Writing & { depth: number }): boolean {
  const plain = plainSchema(schema, root);
  if (typesOf(plain).includes('array'))
    return hasSource(name, plain.items, { root, context, depth } as Writing & { depth: number });
  if (isObject(plain.properties)) return depth < MAX_DEPTH;
  return candidatesFor({ name, schema: plain, required: false }, context).length > 0;
}

interface Place {
  readonly name: string;
  readonly schema: unknown;
  readonly required: boolean;
}

/** Writes one value; `undefined`, and nothing is written, where no source has one. */
async function writeValue(place: Place, writing: Writing & { depth: number }): Promise<Decided | undefined> {
  const schema = plainSchema(place.schema, writing.root);
  if (typesOf(schema).includes('array') && !isText(schema)) return writeList({ ...place, schema }, writing);
  if (isObject(schema.properties) && writing.depth < MAX_DEPTH) {
    writing.writer.force('{');
    let lost = false;
    const inner = await writeObject(
      schema,
      { ...writing, depth: writing.depth + 1 },
      {
        settled: new Map(),
        onValue: () => {},
        onMissing: () => {
          lost = true;
        },
      },
    );
    return lost ? undefined : { value: inner.value, from: 'request', probability: inner.probability };
  }
  return writeLeaf({ ...place, schema }, writing);
}

async function writeList(
  place: Place & { schema: JsonSchema },
  writing: Writing & { depth: number },
): Promise<Decided | undefined> {
  const { writer } = writing;
  const items: unknown[] = [];
  let probability = 1;
  let from: SourceName = 'request';
  writer.force('[');
  const most = Math.min(MAX_ITEMS, typeof place.schema.maxItems === 'number' ? place.schema.maxItems : MAX_ITEMS);
  while (items.length < most) {
    if (items.length > 0) {
      const [next] = await writer.rank([
        { text: ', ', ends: 'itself' },
        { text: ']', ends: 'itself' },
      ]);
      if (next?.name === ']') break;
      writer.force(', ');
    }
    const item = await writeValue(
      { name: place.name, schema: place.schema.items, required: place.required && items.length === 0 },
      writing,
    );
    if (item === undefined || items.some((one) => JSON.stringify(one) === JSON.stringify(item.value))) break;
    items.push(item.value);
    from = item.from;
    probability = Math.min(probability, item.probability);
  }
  if (items.length === 0) return undefined;
  writer.force(']');
  return { value: items, from, probability };
}

/** A string that no run of the request's words begins like is the model's own, where it is so sure of its beginning. */
const OWN_WORDS = Number(process.env.V_OWN ?? 0.5);
/** "Not said" has to be so likely. */
const NOT_SAID = Number(process.env.V_NULL ?? 0.5);

async function writeLeaf(place: Place & { schema: JsonSchema }, writing: Writing): Promise<Decided | undefined> {
  const { schema } = place;
  const { writer, context } = writing;
  const candidates = candidatesFor(place, context);
  const isFree = isText(schema) && !Array.isArray(schema.enum) && !('const' in schema) && formOf(schema) === undefined;
  if (isFree) return writeFree(place, candidates, writing);
  if (candidates.length === 0) return undefined;
  const byText = new Map(candidates.map((candidate) => [choiceText(candidate.value), candidate]));
  const choices = [...byText].map(([text, { value }]) => ({
    text,
    ends: typeof value === 'string' ? ('string' as const) : ('plain' as const),
  }));
  const [best] = await writer.rank(choices);
  const chosen = best && byText.get(best.name);
  if (!best || !chosen) return undefined;
  writer.force(JSON.stringify(chosen.value));
  return { ...chosen, probability: best.probability };
}

/** A string without a closed set of values: words of the request, a reference, or the model's own words. */
async function writeFree(
  { name, schema, required }: Place & { schema: JsonSchema },
  candidates: readonly Candidate[],
  { writer, context }: Writing,
): Promise<Decided | undefined> {
  if (required) {
    const ranked = await writer.rank(
      [
        { text: '"', ends: 'itself' },
        { text: 'null', ends: 'plain' },
      ],
      2,
    );
    const nothing = ranked.find((one) => one.name === 'null')?.probability ?? 0;
    if (nothing > NOT_SAID) return undefined;
  }
  const texts = candidates.filter((one): one is Candidate & { value: string } => typeof one.value === 'string');
  const references = context.results
    .filter((one) => one.schema === undefined || fits(one.schema, schema))
    .map(({ reference }) => reference);
  const all = [...references.map((value) => ({ value, from: 'step' as const })), ...texts];
  writer.force('"');
  const [next] = await writer.likeliest(1);
  const isCopied =
    next === undefined ||
    next.probability < OWN_WORDS ||
    all.some(({ value }) => value.startsWith(next.text) || next.text.startsWith(value));
  if (!isCopied && !context.isHandle(name)) {
    const { text, probability } = await writer.writeText(MAX_TEXT_TOKENS);
    writer.force('"');
    return { value: text, from: 'composed', probability };
  }
  if (all.length === 0) {
    writer.force('"');
    return undefined;
  }
  const byText = new Map(all.map((one) => [JSON.stringify(one.value).slice(1, -1), one]));
  const [best] = await writer.rank([...byText.keys()].map((text) => ({ text, ends: 'string' as const })));
  const chosen = best && byText.get(best.name);
  if (!best || !chosen) return undefined;
  writer.force(`${best.name}"`);
  return { ...chosen, probability: best.probability };
}

/** A string without the quotation mark that ends it: the trie has all tokens that can end one. */
function choiceText(value: unknown): string {
  const text = JSON.stringify(value);
  return typeof value === 'string' ? text.slice(0, -1) : text;
}
