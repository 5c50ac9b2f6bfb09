/**
 * Which tool's result provides an argument of another: read from names, descriptions and schemas, once a view. Linking
 * tools by what one returns and another takes is the idea of API dependency graphs (RestTestGen, Viglianisi et al. 2020).
 */
import { type ResultField, resultFields, stemsOf } from './result-fields.js';
import { isObject, sameJson } from './schema/json.js';
import { resolveReference } from './schema/pointer.js';
import type { View } from './scope.js';
import { fits } from './subschema.js';
import { firstSentence } from './summary.js';
import type { JsonSchema, Tool } from './tool.js';

/** A field of a tool's result that can provide an argument. */
export interface Provision {
  readonly producer: Tool;
  /** From the root of the result, for example `['rooms', 0, 'id']`. */
  readonly path: readonly (string | number)[];
  /** The output schema has a field of this name. Else the path is a guess: the only field, or the argument's name. */
  readonly isDeclared: boolean;
  /** From 0.2 to 1. */
  readonly score: number;
}

export interface Argument {
  readonly tool: Tool;
  readonly name: string;
  readonly isRequired: boolean;
  /** Without a reference at its root. */
  readonly schema: JsonSchema;
  /** Stems of the name: `station`, `code`. */
  readonly words: readonly string[];
  /** Stems that name what it tells of, the surest first: `station`. */
  readonly things: readonly string[];
  /** A value that people seldom know: by its name, or because the description names the tool that returns it. */
  readonly isIdentifier: boolean;
}

export interface ProducerGraph {
  /** In the order of the schema; empty for a tool that the view does not hold. */
  argumentsOf(tool: Tool): readonly Argument[];
  /** Best first, at most 32. One producer can stand here several times, with different fields. */
  provisionsFor(tool: Tool, argument: string): readonly Provision[];
}

interface Profile {
  readonly tool: Tool;
  readonly words: readonly string[];
  readonly arguments: readonly Argument[];
  readonly fields: readonly ResultField[];
  /** Stem -> how surely the result is about it, 0 to 1. */
  readonly subjects: ReadonlyMap<string, number>;
  /** Requires a text that a person can give: it finds what the request names. */
  readonly isSearch: boolean;
}

const MIN_SCORE = 0.2;
const MAX_PROVISIONS = 32;
/** How schemas of all domains end the name of an identifier: a convention of interfaces, in stems. */
const IDENTIFIER = new Set(stemsOf('id uuid guid uri urn handle ref slug sku hash sha'));
/** These end names of what people know, too (`country_code`): they count where a result has a field of the same name. */
const MAYBE_IDENTIFIER = new Set(stemsOf('code key token number url path file filename'));
const SUFFIXES = new Set([...IDENTIFIER, ...MAYBE_IDENTIFIER, 'name']);
/** A tool's name within a text. */
const NAME = /\w(?:[\w.-]*\w)?/gu;
/** Nobody creates a thing to learn its id. */
const RISK_FACTOR = { low: 1, medium: 0.9, high: 0.8 } as const;
/** A handle of one server seldom fits another. */
const OTHER_ORIGIN = 0.6;
/** A producer that waits for an identifier itself is the longer way. */
const WAITS = 0.6;

/** The graph of a view, built at its first use. */
export const producerGraph = createGraphs();

function createGraphs(): (view: View) => ProducerGraph {
  const graphs = new WeakMap<View, ProducerGraph>();
  return (view) => {
    const graph = graphs.get(view) ?? createProducerGraph(view.tools);
    graphs.set(view, graph);
    return graph;
  };
}

function createProducerGraph(tools: readonly Tool[]): ProducerGraph {
  const profiles = profilesOf(tools);
  const byName = new Map(profiles.map((profile) => [profile.tool.name, profile.arguments]));
  const known = new Map<Argument, readonly Provision[]>();
  const argumentsOf = (tool: Tool) => byName.get(tool.name) ?? [];
  const provisionsFor = (tool: Tool, name: string) => {
    const argument = argumentsOf(tool).find((one) => one.name === name);
    if (!argument) return [];
    const provisions = known.get(argument) ?? findProvisions(argument, profiles);
    known.set(argument, provisions);
    return provisions;
  };
  return { argumentsOf, provisionsFor };
}

function findProvisions(argument: Argument, profiles: readonly Profile[]): Provision[] {
  const isNamed = namedBy(argument);
  return profiles
    .flatMap((profile) => provisionsOf(profile, argument, isNamed(profile)))
    .filter(({ score }) => score >= MIN_SCORE)
    .sort((a, b) => b.score - a.score)
    .slice(0, MAX_PROVISIONS);
}

/** A result of one field, such as `{content}`, hides what is inside: it counts as one without a schema. */
function provisionsOf(profile: Profile, argument: Argument, isNamed: boolean): Provision[] {
  const { tool: producer, fields } = profile;
  const factor = factorOf(profile, argument, isNamed);
  const declared = (factor > 0 ? fields : [])
    .map((field) => ({ path: field.path, score: fieldScore(field, argument, profile) }))
    .filter(({ score }) => score > 0);
  const only = fields.length === 1 ? fields[0]?.path : undefined;
  const guess = { path: only ?? [argument.name], score: subjectScore(profile, argument) };
  const guesses = isNamed || fields.length <= 1 ? [guess] : [];
  return (declared.length > 0 ? declared : guesses).map(({ path, score }) => {
    const total = factor * (isNamed ? 0.9 + score / 10 : score);
    return { producer, path, isDeclared: declared.length > 0, score: total };
  });
}

/** Without a declared field, what name and description say the result is about. */
function subjectScore({ subjects, isSearch }: Profile, { things }: Argument): number {
  const about = Math.max(0, ...things.map((thing, place) => (subjects.get(thing) ?? 0) * 0.9 ** place));
  return about > 0 && isSearch ? about + 0.2 : about;
}

/** Who asks for the thing itself does not find it. */
function factorOf({ tool, arguments: own }: Profile, argument: Argument, isNamed: boolean): number {
  const required = own.filter(({ isRequired }) => isRequired);
  const asksForIt = required.some(
    ({ words, things }) => sameJson(words, argument.words) && sameJson(things, argument.things),
  );
  if (tool.name === argument.tool.name || (asksForIt && argument.isIdentifier)) return 0;
  const waits = asksForIt || required.some(({ isIdentifier }) => isIdentifier);
  const isNear = isNamed || tool.origin === argument.tool.origin;
  return RISK_FACTOR[tool.risk] * (waits ? WAITS : 1) * (isNear ? 1 : OTHER_ORIGIN);
}

/** By name, else by a common format. Of equal fields the outer one is meant, and one that is no element of a list. */
function fieldScore({ words, owners, schema, path }: ResultField, argument: Argument, { subjects }: Profile): number {
  const wanted = [argument.schema, argument.schema.items].filter(isObject);
  const isAbout = (thing: string) => owners.has(thing) || (subjects.get(thing) ?? 0) >= 0.5;
  const byFormat = schema.format !== undefined && wanted.some(({ format }) => format === schema.format) ? 0.4 : 0;
  const score = Math.max(nameScore(words, argument, isAbout), byFormat);
  if (score === 0 || !wanted.some((one) => fits(schema, one))) return 0;
  return score - 0.02 * path.length - 0.02 * path.filter((step) => step === 0).length;
}

/** The same name, or an end of it where the rest names what is around the field: `artist_id` and `id` of an artist. */
function nameScore(field: readonly string[], { words, things }: Argument, isAbout: (thing: string) => boolean): number {
  const isBare = ({ length, 0: first = '' }: readonly string[]) => length === 1 && SUFFIXES.has(first);
  const rest = Math.abs(words.length - field.length);
  const isEnd = field.length > 0 && sameJson(words.slice(-field.length), field.slice(-words.length));
  if (!isEnd) return 0;
  if (rest === 0) return !isBare(field) ? 1 : things.some(isAbout) ? 0.9 : 0.3;
  if (field.length > words.length)
    return field.slice(0, rest).some((word) => things.includes(word)) ? 0.85 : isBare(words) ? 0 : 0.5;
  return words.slice(0, rest).every(isAbout) ? 0.9 : isBare(field) ? 0 : field.length > 1 ? 0.75 : 0.4;
}

/** `as find_room returned it`, `from the Search Airport API`: names the tool, in what is not the consumer's own name. */
function namedBy({ tool, name, schema }: Argument): (producer: Profile) => boolean {
  const text = `${schema.description ?? ''} ${tool.description.includes(name) ? tool.description : ''}`;
  const names = new Set(text.match(NAME));
  const said = ` ${stemsOf(text).join(' ')} `;
  const own = ` ${stemsOf(tool.name).join(' ')} `;
  const isSaid = (words: readonly string[]) =>
    words.length > 1 && said.includes(` ${words.join(' ')} `) && !own.includes(` ${words.join(' ')} `);
  return ({ tool: { name: other }, words }) =>
    names.has(other) || [0, 1, 2].some((start) => isSaid(words.slice(start)));
}

function profilesOf(tools: readonly Tool[]): Profile[] {
  const fields = new Map(tools.map((tool) => [tool, tool.outputSchema ? resultFields(tool.outputSchema) : []]));
  const common = new Set([...SUFFIXES, ...tools.flatMap(({ origin }) => stemsOf(origin))]);
  const surroundings = {
    names: new Set(tools.map(({ name }) => name)),
    nouns: new Set(tools.flatMap(({ name }) => stemsOf(name)).filter((word) => !common.has(word))),
    returned: new Set([...fields.values()].flat().map(({ words }) => words.join(' '))),
  };
  return tools.map((tool) => {
    const own = argumentsOf(tool, surroundings);
    const words = stemsOf(tool.name);
    const said = stemsOf(firstSentence(tool.description)).map((word) => [word, 0.3] as const);
    const subjects = new Map([...said, ...words.map((word) => [word, 0.6] as const)]);
    const isSearch = own.some((one) => one.isRequired && !one.isIdentifier && one.schema.type === 'string');
    return { tool, words, arguments: own, fields: fields.get(tool) ?? [], subjects, isSearch };
  });
}

function argumentsOf(
  tool: Tool,
  { names, nouns, returned }: Record<'names' | 'nouns' | 'returned', Set<string>>,
): Argument[] {
  const { properties, required } = tool.inputSchema;
  return Object.entries(isObject(properties) ? properties : {}).flatMap(([name, node]) => {
    if (!isObject(node)) return [];
    const target = typeof node.$ref === 'string' ? resolveReference(tool.inputSchema, node.$ref) : undefined;
    const schema = isObject(target) ? { ...target, ...node } : node;
    const words = stemsOf(name);
    const last = words.at(-1) ?? '';
    const said = String(schema.description ?? '');
    const isNamed = (said.match(NAME) ?? []).some((word) => word !== tool.name && names.has(word));
    const isReturned = MAYBE_IDENTIFIER.has(last) && returned.has(words.join(' '));
    const isKnown = ['enum', 'const', 'default'].some((keyword) => keyword in schema);
    const isIdentifier = !isKnown && (IDENTIFIER.has(last) || isReturned || isNamed);
    // A bare `id` is that of what its description speaks of, else of the tool's own noun.
    const around = [...stemsOf(firstSentence(said)), ...stemsOf(tool.name).reverse()].filter((word) => nouns.has(word));
    const own = words.filter((word) => !SUFFIXES.has(word)).reverse();
    const things = own.length > 0 ? own : around.slice(0, 3);
    const isRequired = Array.isArray(required) && required.includes(name);
    return [{ tool, name, isRequired, schema, words, things, isIdentifier }];
  });
}

export interface ProducerContext {
  readonly view: View;
  readonly request: { readonly message: string; readonly entities?: Readonly<Record<string, unknown>> | undefined };
  /** How likely the model names a tool, 0 to 1. Default: 0 for all. */
  readonly probabilityOf?: (tool: string) => number;
  /** Default: all tools of the view may be brought in. */
  readonly isShown?: (tool: Tool) => boolean;
}

/** A producer weaker than this is a guess: it is not added. */
const MIN_ADDED = 0.45;
/** A tool provides a value when it is about as good at it as the best producer. */
const PROVIDED_SHARE = 0.85;

/**
 * Producers that `tool` needs and that are not in `present`, deepest first, so that they can be put before it. An
 * argument is left alone when the request holds its value or a present tool provides it. `serves`: `tool.argument`.
 */
export function missingProducers(tool: Tool, present: ReadonlySet<string>, context: ProducerContext) {
  const { view, request, probabilityOf = () => 0, isShown = () => true } = context;
  const weigh = ({ producer, score }: Provision) => score * (1 + Math.sqrt(probabilityOf(producer.name)) / 2);
  const graph = producerGraph(view);
  const taken = new Set([...present, tool.name]);
  const found: { tool: Tool; serves: string }[] = [];
  visit(tool);
  return found;

  function visit(consumer: Tool): void {
    for (const argument of graph.argumentsOf(consumer)) {
      if (!argument.isRequired || !argument.isIdentifier || isGiven(argument, request)) continue;
      const provisions = graph.provisionsFor(consumer, argument.name);
      const least = PROVIDED_SHARE * (provisions[0]?.score ?? 0);
      if (provisions.some(({ producer, score }) => score >= least && taken.has(producer.name))) continue;
      const strong = provisions.filter(({ producer, score }) => score >= MIN_ADDED && isShown(producer));
      const best = strong.sort((a, b) => weigh(b) - weigh(a))[0]?.producer;
      if (!best || taken.has(best.name)) continue;
      taken.add(best.name);
      visit(best);
      found.push({ tool: best, serves: `${consumer.name}.${argument.name}` });
    }
  }
}

const PLACES = new Set(stemsOf('path file filename'));

/** Whether the request itself holds what can be the identifier: an entity of its name, or a word of its form. */
export function isGiven(argument: Argument, { message, entities = {} }: ProducerContext['request']): boolean {
  const { words } = argument;
  const held = Object.entries(entities).filter(([name]) => sameJson(stemsOf(name), words));
  if (held.some(([, value]) => value !== undefined && value !== null && value !== '')) return true;
  // Without a request nobody knows which place is meant.
  if (message === '') return PLACES.has(words.at(-1) ?? '');
  const tokens = message.match(/[/\\~]?[\w#]+(?:[.:/\\@~-]+\w+)*/gu) ?? [];
  return tokens.some((token, place) => isValue(token, tokens[place - 1] ?? '', argument));
}

/** `movie 550` says an identifier, since the word before names the thing; `Sony WH-1000XM4` is a name. */
function isValue(token: string, before: string, { words, things, schema }: Argument): boolean {
  const kind = words.at(-1) ?? '';
  if (kind === 'uri' || kind === 'url') return token.includes('://');
  if (PLACES.has(kind)) return /[/\\]|\w\.[a-z]/iu.test(token);
  const isNamed = kind === 'number' || stemsOf(before).some((word) => words.includes(word) || things.includes(word));
  if (/^#?\d+$/u.test(token)) return isNamed || /^#|^\d{5,}(?<!000)$/u.test(token);
  if (schema.type === 'integer' || schema.type === 'number' || !/^[\w-]*\d[\w-]*$/u.test(token)) return false;
  return isNamed || (token.length >= 5 && /[a-z]/iu.test(token) && !/^\p{Lu}/u.test(before));
}
