/** Finds tools whose results provide arguments of others: an API dependency graph (RestTestGen, Viglianisi et al. 2020). */
import { oncePer } from '../kept.js';
import { type Argument, type Asked, isGiven, stemsOf } from './identifiers.js';
import { NAME_IN_TEXT, type Profile, profilesOf, type ResultField, SUFFIXES } from './profiles.js';
import { isObject } from './schema/json.js';
import { fits } from './schema/paths.js';
import type { View } from './scope.js';
import type { Tool } from './tool.js';

/** A field of a tool's result that can provide an argument. Scores run from 0.2 to 1. */
export interface Provision {
  readonly producer: Tool;
  /** The path of a matching field in the output schema; else a guess: the first field, or the argument's name. */
  readonly path: readonly (string | number)[];
  readonly score: number;
}

const MIN_SCORE = 0.2;
const MAX_PROVISIONS = 32;
/** Producers score less if they change things, belong to another source, or first need an identifier themselves. */
const RISK_FACTOR = { low: 1, medium: 0.9, high: 0.8 } as const;
const [OTHER_ORIGIN, WAITS] = [0.6, 0.6];
export const producerGraph = oncePer((view: View) => createProducerGraph(view.tools));

function createProducerGraph(tools: readonly Tool[]) {
  const profiles = profilesOf(tools);
  const byName = new Map(profiles.map((profile) => [profile.tool.name, profile]));
  const codes: ReadonlySet<string> = new Set(profiles.flatMap((profile) => [...profile.codes]));
  const known = new Map<Argument | undefined, readonly Provision[]>([[undefined, []]]);
  const argumentsOf = (tool: Tool): readonly Argument[] => byName.get(tool.name)?.arguments ?? [];
  /** Its identifiers, also within its objects and lists. */
  const identifiersOf = (tool: Tool): readonly Argument[] => byName.get(tool.name)?.identifiers ?? [];
  /** The forms of the codes that its arguments take. @see Argument.codes */
  const formsTakenBy = (tool: Tool): ReadonlySet<string> => byName.get(tool.name)?.codes ?? new Set();
  /** Best first, at most 32. One producer can appear several times, with different fields. */
  const provisionsFor = (tool: Tool, name: string): readonly Provision[] => {
    const isNamed = (one: Argument) => one.name === name;
    const argument = argumentsOf(tool).find(isNamed) ?? identifiersOf(tool).find(isNamed);
    const provisions = known.get(argument) ?? (argument ? findProvisions(argument, profiles) : []);
    known.set(argument, provisions);
    return provisions;
  };
  return { argumentsOf, identifiersOf, codes, formsTakenBy, provisionsFor };
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
