/**
 * Who produces what: built from the schemas alone, once a catalogue view. An edge says that the result of one tool
 * can hold the value that an argument of another needs, with a strength between 0 and 1.
 *
 * The idea of linking tools by what one returns and another takes is that of API dependency graphs (for example
 * RestTestGen, Viglianisi et al. 2020, for testing REST APIs); here it adds what a language model forgets to pick.
 */
import type { View } from '../../catalog/scope.js';
import { firstSentence, oneLine } from '../../catalog/summary.js';
import type { JsonSchema, Tool } from '../../catalog/tool.js';
import { foldPlural, splitIdentifier } from '../../search/words.js';
import { type Need, needsOf, propertiesOf } from './needs.js';
import { HANDLE_WORDS, identifierWords, isNoun, type Manner, mannerOf } from './vocabulary.js';

export interface Production {
  readonly producer: Tool;
  readonly strength: number;
  readonly manner: Manner;
  /** The producer asks for a text that a user can give, such as a name or a query. */
  readonly takesText: boolean;
}

export interface ProducerGraph {
  /** The handles a tool asks for, required ones first; empty for an unknown name. */
  needsOf(tool: string): readonly Need[];
  /** Tools whose result holds what the need asks for, strongest first, at most 16. Tools that write only where no other gives it (a session must be opened). */
  producersOf(need: Need): readonly Production[];
  /** Whether the result of `producer` can hold what the need asks for, also when the producer writes. */
  produces(producer: string, need: Need): boolean;
  /** As `produces`, with enough evidence to forbid anything else in its place. */
  surelyProduces(producer: string, need: Need): boolean;
}

const MAX_PRODUCERS = 16;
/** A search returns what was asked for, a list perhaps. */
const FINDER_BONUS = { search: 0.25, list: 0.1, read: 0, write: 0 } as const;
const MIN_STRENGTH = 0.2;
const SURE_STRENGTH = 0.6;
/** Of a tool that writes and does not tell what it returns: nobody creates a thing to learn its id. */
const SURE_OF_WRITER = 0.8;
/** A tool provides a value when it is about as good at it as the best producer. */
const PROVIDED_SHARE = 0.85;
/** A handle of one server seldom fits another. */
const OTHER_ORIGIN = 0.6;

/** Many MCP servers declare the same `{content: text}` for each tool: such a schema says nothing of what is inside. */
const ENVELOPE = /^(?:content |data |result )?(?:content|text|type|data|mime type|result|output|response|body)$/u;

interface Profile {
  readonly tool: Tool;
  readonly needs: readonly Need[];
  readonly manner: Manner;
  readonly takesText: boolean;
  /** Output fields as `Need.key` spells them, with the container in front where there is one. */
  readonly outputs: ReadonlySet<string> | undefined;
  /** Noun -> how surely the result is about it. */
  readonly subjects: ReadonlyMap<string, number>;
}

export function createProducerGraph(tools: readonly Tool[]): ProducerGraph {
  const profiles = profilesOf(tools);
  const byTool = new Map(profiles.map((profile) => [profile.tool.name, profile]));
  const known = new Map<string, readonly Production[]>();
  const strengthOfTool = (name: string, need: Need) => {
    const profile = byTool.get(name);
    return profile ? strengthOf(profile, need) : 0;
  };
  const producersOf = (need: Need) => {
    const id = `${need.tool}\n${need.argument}`;
    const productions = known.get(id) ?? findProducers(need, profiles);
    known.set(id, productions);
    return productions;
  };
  const leastOf = (need: Need) => Math.max(MIN_STRENGTH, PROVIDED_SHARE * (producersOf(need)[0]?.strength ?? 0));
  return {
    needsOf: (name) => byTool.get(name)?.needs ?? [],
    producersOf,
    produces: (name, need) => strengthOfTool(name, need) >= leastOf(need),
    surelyProduces: (name, need) => strengthOfTool(name, need) >= sureStrength(byTool.get(name)),
  };
}

const graphs = new WeakMap<View, ProducerGraph>();

/** The graph of a view, built at its first use. */
export function producerGraphOf(view: View): ProducerGraph {
  let graph = graphs.get(view);
  if (!graph) {
    graph = createProducerGraph(view.tools);
    graphs.set(view, graph);
  }
  return graph;
}

function sureStrength(profile: Profile | undefined): number {
  return profile?.manner === 'write' && !profile.outputs ? SURE_OF_WRITER : SURE_STRENGTH;
}

function findProducers(need: Need, profiles: readonly Profile[]): Production[] {
  const all = profiles
    .map((profile) => ({
      producer: profile.tool,
      strength: strengthOf(profile, need),
      manner: profile.manner,
      takesText: profile.takesText,
    }))
    .filter((production) => production.strength >= MIN_STRENGTH)
    .sort((a, b) => b.strength - a.strength);
  const readers = all.filter((production) => production.manner !== 'write' && production.producer.risk !== 'high');
  return (readers.length > 0 ? readers : all).slice(0, MAX_PRODUCERS);
}

function strengthOf(profile: Profile, need: Need): number {
  if (profile.tool.name === need.tool) return 0;
  // A path on one server leads nowhere on another.
  if (need.isPath && profile.tool.origin !== need.origin) return 0;
  const asksForTheSame = profile.needs.some((other) => other.required && sameThing(other, need));
  if (asksForTheSame) return 0;
  const direct = profile.outputs ? outputStrength(profile, need) : subjectStrength(profile, need);
  const strength = Math.max(
    direct,
    isMentioned(profile.tool, need) ? 0.95 : 0,
    isAdvised(profile.tool, need) ? 0.8 : 0,
  );
  const asksForOthers = profile.needs.some((other) => other.required);
  return strength * (asksForOthers ? 0.5 : 1) * (profile.tool.origin === need.origin ? 1 : OTHER_ORIGIN);
}

function sameThing(one: Need, other: Need): boolean {
  return one.key === other.key && (one.entities[0] === other.entities[0] || one.key.includes(' '));
}

/**
 * "can be extracted from the Search Airport API": the name of the tool, or its words in order, in the description. Words
 * that the consumer's own name holds tell of the consumer.
 */
function isMentioned(tool: Tool, { tool: consumer, description, said }: Need): boolean {
  if (description.includes(tool.name)) return true;
  const words = identifierWords(tool.name);
  const own = ` ${identifierWords(consumer).join(' ')} `;
  return [words, words.slice(1), words.slice(2)]
    .filter((part) => part.length >= 2)
    .map((part) => ` ${part.join(' ')} `)
    .some((part) => said.includes(part) && !own.includes(part));
}

/** The consumer's own description tells to call the tool first, by name or by title. */
function isAdvised({ name, title }: Tool, { advice, argument }: Need): boolean {
  const named = advice.includes(name) || (title !== undefined && title.length >= 6 && advice.includes(title));
  return named && advice.includes(argument);
}

/** With an output schema the fields decide: the same name, or the name within a container of the right kind. */
function outputStrength({ outputs, subjects, manner }: Profile, need: Need): number {
  if (!outputs) return 0;
  const finder = FINDER_BONUS[manner] / 5;
  if (outputs.has(need.key)) return 0.9 + finder;
  const last = need.key.split(' ').at(-1) ?? '';
  const inContainer = need.entities.some((entity) => outputs.has(`${entity} ${last}`));
  if (inContainer) return 0.85 + finder;
  const suffix = need.key.split(' ').slice(1).join(' ');
  if (suffix.includes(' ') && outputs.has(suffix)) return 0.7 + finder;
  const bare = outputs.has(last) && need.entities.some((entity) => (subjects.get(entity) ?? 0) >= 0.45);
  return bare ? 0.6 + finder : 0;
}

/** Without one, what name and description say the result is about. */
function subjectStrength({ subjects, manner }: Profile, need: Need): number {
  const about = Math.max(0, ...need.entities.map((entity, place) => (subjects.get(entity) ?? 0) * 0.9 ** place));
  return about === 0 ? 0 : Math.min(0.9, about + FINDER_BONUS[manner]);
}

function profilesOf(tools: readonly Tool[]): Profile[] {
  const outputs = new Map(tools.map((tool) => [tool.name, outputFields(tool)]));
  const produced = new Map<string, Set<string>>();
  for (const [name, fields] of outputs) {
    for (const field of fields ?? []) produced.set(field, (produced.get(field) ?? new Set()).add(name));
  }
  const nouns = tellingNouns(tools);
  return tools.map((tool) => {
    const needs = needsOf(tool, { produced, nouns }).sort((a, b) => Number(b.required) - Number(a.required));
    const manner = mannerOf(tool.name, tool.description);
    const takesText = textArguments(tool, needs).length > 0;
    return { tool, needs, manner, takesText, outputs: outputs.get(tool.name), subjects: subjectsOf(tool) };
  });
}

/** Nouns in the names of tools, without those that nearly every name carries, such as the name of the server. */
function tellingNouns(tools: readonly Tool[]): Set<string> {
  const counts = new Map<string, number>();
  const names = tools.map((tool) => ({ origin: tool.origin, words: new Set(identifierWords(tool.name)) }));
  const sizes = new Map<string, number>();
  for (const { origin, words } of names) {
    sizes.set(origin, (sizes.get(origin) ?? 0) + 1);
    for (const word of words) counts.set(`${origin}\n${word}`, (counts.get(`${origin}\n${word}`) ?? 0) + 1);
  }
  const isTelling = (origin: string, word: string) =>
    (sizes.get(origin) ?? 0) < 5 || (counts.get(`${origin}\n${word}`) ?? 0) <= 0.7 * (sizes.get(origin) ?? 0);
  return new Set(
    names.flatMap(({ origin, words }) => [...words].filter((word) => isNoun(word) && isTelling(origin, word))),
  );
}

function textArguments(tool: Tool, needs: readonly Need[]): string[] {
  const handles = new Set(needs.map((need) => need.argument));
  const required = Array.isArray(tool.inputSchema.required) ? tool.inputSchema.required : [];
  const properties = propertiesOf(tool.inputSchema);
  return required.filter((name): name is string => {
    const schema = typeof name === 'string' ? properties[name] : undefined;
    return (
      schema?.type === 'string' &&
      !handles.has(String(name)) &&
      !Array.isArray(schema.enum) &&
      schema.format === undefined
    );
  });
}

/** Field names of the output schema down to four levels, with the name of the container in front where there is one. */
function outputFields(tool: Tool): Set<string> | undefined {
  if (!tool.outputSchema) return undefined;
  const fields = new Set<string>();
  collectFields(tool.outputSchema, { container: '', depth: 0 }, fields);
  return [...fields].every((field) => ENVELOPE.test(field)) ? undefined : fields;
}

function collectFields(schema: JsonSchema, place: { container: string; depth: number }, fields: Set<string>): void {
  if (place.depth > 4) return;
  const items = schema.items;
  if (typeof items === 'object' && items !== null)
    collectFields({ ...items }, { ...place, depth: place.depth + 1 }, fields);
  for (const [name, value] of Object.entries(propertiesOf(schema))) {
    const words = identifierWords(name).join(' ');
    fields.add(words);
    if (place.container && !words.includes(place.container)) fields.add(`${place.container} ${words}`);
    collectFields(value, { container: words.split(' ').at(-1) ?? '', depth: place.depth + 1 }, fields);
  }
}

/** "the user's albums" is about albums. */
const POSSESSIVE = /[\p{L}\p{N}]+['’]s\b/gu;
const RESULT_OF =
  /\b(?:returns?|finds?|lists?|gets?|search(?:es)?(?: for)?|retrieves?|looks? up)\b((?:\s+[\p{L}'-]+){1,7})/giu;

function subjectsOf(tool: Tool): Map<string, number> {
  const subjects = new Map<string, number>();
  const note = (words: readonly string[], strength: number) => {
    for (const word of words) if (isNoun(word)) subjects.set(word, Math.max(strength, subjects.get(word) ?? 0));
  };
  const text = oneLine(tool.description).replace(POSSESSIVE, ' ');
  const lead = firstSentence(text);
  note(splitIdentifier(text.slice(0, 300)).map(foldPlural), 0.25);
  note(splitIdentifier(lead).map(foldPlural), 0.3);
  for (const match of text.slice(0, 400).matchAll(RESULT_OF))
    note(splitIdentifier(match[1] ?? '').map(foldPlural), 0.45);
  note(enumWords(tool), 0.5);
  note(tool.keywords.flatMap(identifierWords), 0.45);
  const words = identifierWords(tool.name);
  const about = mainNouns(text);
  for (const word of words) note([word], about.size === 0 || about.has(word) || !mentions(text, word) ? 0.6 : 0.35);
  note(
    words.filter((_, place) => HANDLE_WORDS.has(words[place + 1] ?? '')),
    0.85,
  );
  return subjects;
}

/** "genres for movies" is about genres: the nouns of the result phrases, up to the first word that begins an addition. */
function mainNouns(text: string): Set<string> {
  const nouns = new Set<string>();
  for (const match of text.slice(0, 400).matchAll(RESULT_OF)) {
    const phrase = (match[1] ?? '').replace(/\b(?:lists?|names?|details?|information|set|number|array) of\b/giu, ' ');
    const main = phrase
      .split(/\b(?:for|of|in|on|with|by|from|that|to|about|at|belonging|associated|based|using)\b/iu)
      .find((part) => part.trim() !== '');
    for (const word of splitIdentifier(main ?? '').map(foldPlural)) if (isNoun(word)) nouns.add(word);
  }
  return nouns;
}

function mentions(text: string, word: string): boolean {
  return splitIdentifier(text.slice(0, 400)).map(foldPlural).includes(word);
}

/** Of a value of several words the last is the thing: a `user_interface` is no user. */
function enumWords(tool: Tool): string[] {
  return Object.values(propertiesOf(tool.inputSchema)).flatMap((schema) => {
    const items = schema.items;
    const values = Array.isArray(schema.enum)
      ? schema.enum
      : typeof items === 'object' && items !== null && 'enum' in items
        ? items.enum
        : [];
    return Array.isArray(values)
      ? values.flatMap((value) => (typeof value === 'string' ? identifierWords(value).slice(-1) : []))
      : [];
  });
}
