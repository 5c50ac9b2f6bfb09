/** Finds tools whose results provide arguments of others: an API dependency graph (RestTestGen, Viglianisi et al. 2020). */
import { oncePer } from '../kept.js';
import { type Argument, type Asked, isGiven, stemsOf } from './identifiers.js';
import { isObject, listOf, objectOf } from './schema/json.js';
import { dereference, type Field, fieldsOf, fits } from './schema/paths.js';
import type { View } from './scope.js';
import { firstSentence } from './summary.js';
import type { JsonSchema, Tool } from './tool.js';

/** A field of a tool's result that can provide an argument. Scores run from 0.2 to 1. */
export interface Provision {
  readonly producer: Tool;
  /** The path of a matching field in the output schema; else a guess: the first field, or the argument's name. */
  readonly path: readonly (string | number)[];
  readonly score: number;
}

interface Profile {
  readonly tool: Tool;
  readonly words: readonly string[];
  readonly arguments: readonly Argument[];
  /** Also those within its objects and lists. */
  readonly identifiers: readonly Argument[];
  readonly fields: readonly ResultField[];
  readonly required: readonly Argument[];
  /** Suffixes of its name, two or more words long: a text that contains one refers to this tool. */
  readonly phrases: readonly string[];
  /** Requires a text that a person can give, so it can look up what the request names. */
  readonly isSearch: boolean;
}

const MIN_SCORE = 0.2;
const MAX_PROVISIONS = 32;
/** Stems that end the names of identifiers by convention, in the schemas of every domain. */
const IDENTIFIER = new Set(stemsOf('id uuid guid uri urn handle ref slug sku hash sha'));
/** These also end names of values that people know (`country_code`): they count where a result has a field of that name. */
const MAYBE_IDENTIFIER = new Set(stemsOf('code key token number url path file filename'));
const SUFFIXES = new Set([...IDENTIFIER, ...MAYBE_IDENTIFIER, 'name']);
const NAME_IN_TEXT = /\w(?:[\w.-]*\w)?/gu;
/** Producers score less if they change things, belong to another source, or first need an identifier themselves. */
const RISK_FACTOR = { low: 1, medium: 0.9, high: 0.8 } as const;
const [OTHER_ORIGIN, WAITS] = [0.6, 0.6];
export const producerGraph = oncePer((view: View) => createProducerGraph(view.tools));

function createProducerGraph(tools: readonly Tool[]) {
  const profiles = profilesOf(tools);
  const byName = new Map(profiles.map((profile) => [profile.tool.name, profile.arguments]));
  const identifiers = new Map(profiles.map((profile) => [profile.tool.name, profile.identifiers]));
  const known = new Map<Argument | undefined, readonly Provision[]>([[undefined, []]]);
  const argumentsOf = (tool: Tool): readonly Argument[] => byName.get(tool.name) ?? [];
  /** Its identifiers, also within its objects and lists. */
  const identifiersOf = (tool: Tool): readonly Argument[] => identifiers.get(tool.name) ?? [];
  /** Best first, at most 32. One producer can appear several times, with different fields. */
  const provisionsFor = (tool: Tool, name: string): readonly Provision[] => {
    const isNamed = (one: Argument) => one.name === name;
    const argument = argumentsOf(tool).find(isNamed) ?? identifiersOf(tool).find(isNamed);
    const provisions = known.get(argument) ?? (argument ? findProvisions(argument, profiles) : []);
    known.set(argument, provisions);
    return provisions;
  };
  return { argumentsOf, identifiersOf, provisionsFor };
}

function findProvisions(argument: Argument, profiles: readonly Profile[]): Provision[] {
  const isNamed = namedBy(argument);
  const all = profiles.flatMap((profile) => provisionsOf(profile, argument, isNamed(profile)));
  const strong = all.filter(({ score }) => score >= MIN_SCORE);
  return strong.sort((a, b) => b.score - a.score).slice(0, MAX_PROVISIONS);
}

/** A result with a single field, such as `{content}`, hides its contents: it counts as a result without a schema. */
function provisionsOf(profile: Profile, argument: Argument, isNamed: boolean): Provision[] {
  const { tool: producer, words, fields, isSearch } = profile;
  const factor = factorOf(profile, argument, isNamed);
  if (factor === 0) return [];
  const kinds = [argument.words.at(-1), argument.kind];
  // Most fields are about something else, which is quickly seen.
  const alike = fields.filter(({ words: own, schema }) => schema.format !== undefined || kinds.includes(own.at(-1)));
  const scored = alike.map((field) => ({ path: field.path, score: fieldScore(field, argument, profile) }));
  const declared = scored.filter(({ score }) => score > 0);
  const isDeclared = declared.length > 0;
  const about = Math.max(0, ...argument.things.map((thing, place) => (words.includes(thing) ? 0.6 * 0.9 ** place : 0)));
  const guess = { path: fields[0]?.path ?? [argument.name], score: about > 0 && isSearch ? about + 0.2 : about };
  const found = isDeclared ? declared : isNamed || fields.length <= 1 ? [guess] : [];
  const [base, share] = isNamed ? [0.9, 0.1] : [0, 1];
  return found.map(({ path, score }) => ({ producer, path, score: factor * (base + share * score) }));
}

/** A tool that requires the same identifier can't provide it. */
function factorOf({ tool, required }: Profile, argument: Argument, isNamed: boolean): number {
  const asksForIt = required.some(({ key }) => key === argument.key);
  if (tool.name === argument.tool.name || (asksForIt && argument.isIdentifier)) return 0;
  const waits = asksForIt || required.some(({ isIdentifier }) => isIdentifier);
  const factor = RISK_FACTOR[tool.risk] * (waits ? WAITS : 1);
  return isNamed || tool.origin === argument.tool.origin ? factor : factor * OTHER_ORIGIN;
}

/** Of a thing in a role: `blocking_ticket_id` is a `ticket_id`, and `assignee_id` a `person_id` if its description says "person". */
const ROLE = 0.8;

/** Scores by name, else by a shared format. Among equal fields the outermost wins. */
function fieldScore({ words, owners, schema, path }: ResultField, argument: Argument, profile: Profile): number {
  const wanted = [argument.schema, argument.schema.items].filter(isObject);
  const isAbout = (thing: string) => owners.has(thing) || profile.words.includes(thing);
  const sharesFormat = schema.format !== undefined && wanted.some(({ format }) => format === schema.format);
  const thing = argument.things.at(-1);
  const isDescribed = thing !== undefined && !argument.words.includes(thing);
  const described = isDescribed ? { ...argument, words: [thing, argument.kind] } : undefined;
  const byDescription = described ? ROLE * nameScore(words, described, isAbout) : 0;
  const score = Math.max(nameScore(words, argument, isAbout), byDescription, sharesFormat ? 0.4 : 0);
  if (score === 0 || !wanted.some((one) => fits(schema, one))) return 0;
  return score - 0.02 * path.length;
}

/** Matches equal names, or a suffix whose remaining words name the enclosing object: `artist_id` and `id` of an artist. */
function nameScore(field: readonly string[], { words, things }: Argument, isAbout: (thing: string) => boolean): number {
  const shorter = Math.min(words.length, field.length);
  if (shorter === 0 || words.slice(-shorter).join(' ') !== field.slice(-shorter).join(' ')) return 0;
  const isBare = shorter === 1 && SUFFIXES.has(words.at(-1) ?? '');
  const [wanted, offered] = [words.slice(0, -shorter), field.slice(0, -shorter)];
  if (wanted.length + offered.length === 0) return !isBare || things.some(isAbout) ? 1 : 0.3;
  const isMeant = wanted.length > 0 ? wanted.every(isAbout) : offered.some((word) => things.includes(word));
  const isRole = offered.length === 0 && (shorter > 1 || isAbout(wanted.at(-1) ?? ''));
  return isMeant ? 0.9 : isRole ? ROLE : isBare ? 0 : 0.5;
}

/** `as find_room returned it`, `from the Search Airport API`: names the producer, beyond the consumer's own name. */
function namedBy({ tool, name, schema }: Argument): (producer: Profile) => boolean {
  const text = `${schema.description ?? ''} ${tool.description.includes(name) ? tool.description : ''}`;
  const names = new Set<string>(text.match(NAME_IN_TEXT));
  const said = ` ${stemsOf(text).join(' ')} `;
  const own = ` ${stemsOf(tool.name).join(' ')} `;
  const isSaid = (phrase: string) => said.includes(phrase) && !own.includes(phrase);
  return ({ tool: { name: other }, phrases }) => names.has(other) || phrases.some(isSaid);
}

function profilesOf(tools: readonly Tool[]): Profile[] {
  const most = Math.max(LEAST_FIELDS, Math.min(MOST_FIELDS, Math.floor(ALL_FIELDS / tools.length)));
  const fields = new Map(tools.map((tool) => [tool, resultFields(tool, most)]));
  const common = new Set([...SUFFIXES, ...tools.flatMap(({ origin }) => stemsOf(origin))]);
  const taken = new Set(tools.flatMap(({ inputSchema }) => Object.keys(objectOf(inputSchema.properties))));
  const surroundings = {
    names: new Set(tools.map(({ name }) => name)),
    nouns: countOf(tools.flatMap(({ name }) => [...new Set(stemsOf(name))]).filter((word) => !common.has(word))),
    returned: new Set([...fields.values()].flat().map(({ words }) => words.join(' '))),
    named: thingsIn([...taken]),
    identified: thingsIn([...taken].filter((name) => IDENTIFIER.has(stemsOf(name).at(-1) ?? ''))),
  };
  return tools.map((tool) => {
    const own = argumentsOf(tool, tool.inputSchema, surroundings);
    const all = [...own, ...nestedOf(tool, tool.inputSchema, surroundings)];
    const identifiers = all.filter(({ isIdentifier }) => isIdentifier);
    const words = stemsOf(tool.name);
    const required = own.filter(({ isRequired }) => isRequired);
    const isSearch = required.some((one) => !one.isIdentifier && one.schema.type === 'string');
    const ends = [0, 1, 2].map((start) => words.slice(start)).filter(({ length }) => length > 1);
    const phrases = ends.map((end) => ` ${end.join(' ')} `);
    return { tool, words, arguments: own, identifiers, fields: fields.get(tool) ?? [], required, phrases, isSearch };
  });
}

function thingsIn(names: readonly string[]): ReadonlySet<string> {
  return new Set(names.flatMap(stemsOf).filter((word) => !SUFFIXES.has(word)));
}

type Surroundings = Record<'names' | 'returned' | 'named' | 'identified', ReadonlySet<string>> & {
  /** Number of tools with that stem in their names. */
  readonly nouns: ReadonlyMap<string, number>;
};

function countOf(words: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}

const MAX_DEPTH = 3;

/** The arguments within objects and lists of objects. */
function nestedOf(tool: Tool, schema: JsonSchema, surroundings: Surroundings, depth = 1): Argument[] {
  if (depth > MAX_DEPTH) return [];
  return Object.values(objectOf(schema.properties)).flatMap((node) => {
    const whole = dereference(tool.inputSchema, node) ?? {};
    const inner = whole.type === 'array' ? (dereference(tool.inputSchema, whole.items) ?? {}) : whole;
    if (!isObject(inner.properties)) return [];
    return [...argumentsOf(tool, inner, surroundings), ...nestedOf(tool, inner, surroundings, depth + 1)];
  });
}

function argumentsOf(
  tool: Tool,
  { properties, required }: JsonSchema,
  { names, nouns, returned, named, identified }: Surroundings,
): Argument[] {
  const ofTool = stemsOf(tool.name);
  return Object.entries(objectOf(properties)).flatMap(([name, node]) => {
    if (!isObject(node)) return [];
    const schema = dereference(tool.inputSchema, node) ?? node;
    const words = stemsOf(name);
    const last = words.at(-1) ?? '';
    const said = String(schema.description ?? '');
    const isNamed = (said.match(NAME_IN_TEXT) ?? []).some((word) => word !== tool.name && names.has(word));
    const isReturned = MAYBE_IDENTIFIER.has(last) && returned.has(words.join(' '));
    const isKnown = ['enum', 'const', 'default'].some((keyword) => keyword in schema);
    const described = stemsOf(firstSentence(said));
    const isIdentifier = !isKnown && (IDENTIFIER.has(last) || isReturned || isNamed || isIdentifierBy(described));
    const kind = isIdentifier && !SUFFIXES.has(last) ? 'id' : last;
    const own = words.filter((word) => !SUFFIXES.has(word)).reverse();
    const isNoun = (word: string) => nouns.has(word);
    // A bare `id` identifies what its description mentions, else what the tool's name does.
    const around = [...described.filter(isNoun), ...ofTool.toReversed().filter(isNoun)].slice(0, 3);
    // Of a name that no other tool has, such as `assignee_id`, the description says what it is.
    const isRole = !own.some((word) => (nouns.get(word) ?? 0) > (ofTool.includes(word) ? 1 : 0));
    const isThing = (word: string) => {
      const identifier = `${word} ${kind}`;
      return isNoun(word) && (returned.has(identifier) || ` ${described.join(' ')} `.includes(` ${identifier} `));
    };
    const role = isRole ? described.find(isThing) : undefined;
    const isRequired = listOf(required).includes(name);
    const key = `${words.join(' ')} of ${(own.length > 0 ? own : around).join(' ')}`;
    const things = own.length > 0 ? [...new Set([...own, ...(role === undefined ? [] : [role])])] : around;
    return [{ tool, name, isRequired, schema, key, words, kind, things, named, identified, isIdentifier }];
  });
}

/** "Ids of the drivers who take part", but not "ID or name of the channel". */
function isIdentifierBy(description: readonly string[]): boolean {
  return description.slice(0, 2).some((word) => IDENTIFIER.has(word)) && !description.includes('name');
}

/** `probabilityOf`: how likely the model names a tool, default 0; `isShown`: which tools may be added, default all. */
export interface ProducerContext {
  readonly view: View;
  readonly request: Asked;
  readonly probabilityOf?: (tool: string) => number;
  readonly isShown?: (tool: Tool) => boolean;
}

/** Weaker producers are guesses and not added. A present tool provides the value if it scores nearly as well as the best. */
const MIN_ADDED = 0.45;
const PROVIDED_SHARE = 0.85;
/** Limits for one tool, including producers of producers. Each argument looked at costs a pass over all tools. */
const MOST_PRODUCERS = 16;
const MOST_LOOKS = 48;

/**
 * Producers that `tool` needs besides `present`, deepest first, and the `tool.argument` that each serves. An argument needs
 * none when the request contains its value or a present tool provides it.
 */
export function missingProducers(tool: Tool, present: ReadonlySet<string>, context: ProducerContext) {
  const { view, request, probabilityOf = () => 0, isShown = () => true } = context;
  const weigh = ({ producer, score }: Provision) => score * (1 + Math.sqrt(probabilityOf(producer.name)) / 2);
  const graph = producerGraph(view);
  const taken = new Set([...present, tool.name]);
  const most = taken.size + MOST_PRODUCERS;
  const found: { tool: Tool; serves: string }[] = [];
  let looks = 0;
  visit(tool);
  return found;

  function visit(consumer: Tool): void {
    for (const argument of graph.argumentsOf(consumer)) {
      if (taken.size >= most) return;
      if (!argument.isRequired || !argument.isIdentifier || isGiven(argument, request)) continue;
      if (++looks > MOST_LOOKS) return;
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

interface ResultField extends Field {
  readonly words: readonly string[];
  readonly owners: ReadonlySet<string>;
}

/** Fields of one result, and of all results together: each is compared with each argument that is looked at. */
const [MOST_FIELDS, LEAST_FIELDS, ALL_FIELDS] = [400, 16, 100_000];

function resultFields({ outputSchema }: Tool, most: number): ResultField[] {
  const fields = outputSchema ? fieldsOf(outputSchema, { steps: 6, fields: most }) : [];
  return fields.map((field) => {
    const names = field.path.filter((step) => typeof step === 'string').map(stemsOf);
    return { ...field, words: names.at(-1) ?? [], owners: new Set(names.slice(0, -1).flat()) };
  });
}
