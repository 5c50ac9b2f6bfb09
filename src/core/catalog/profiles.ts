/** What the names and descriptions of tools say of their arguments and of the fields of their results. */
import { codesShown } from './codes.js';
import { type Argument, stemsOf } from './identifiers.js';
import { isNumber, isObject, listOf, objectOf } from './schema/json.js';
import { type Field, fieldsOf } from './schema/paths.js';
import { dereference } from './schema/references.js';
import { firstSentence } from './summary.js';
import type { JsonSchema, Tool } from './tool.js';

export interface Profile {
  readonly tool: Tool;
  readonly words: readonly string[];
  readonly arguments: readonly Argument[];
  /** Also those within its objects and lists. */
  readonly identifiers: readonly Argument[];
  /** Forms of the codes that its arguments take. @see Argument.codes */
  readonly codes: ReadonlySet<string>;
  readonly fields: readonly ResultField[];
  readonly required: readonly Argument[];
  /** Suffixes of its name, two or more words long: a text that contains one refers to this tool. */
  readonly phrases: readonly string[];
  /** Requires a text that a person can give, so it can look up what the request names. */
  readonly isSearch: boolean;
}

/** Stems that end the names of identifiers by convention, in the schemas of every domain. */
const IDENTIFIER = new Set(stemsOf('id uuid guid uri urn handle ref slug sku hash sha'));
/** These also end names of values that people know (`country_code`): they count where a result has a field of that name. */
const MAYBE_IDENTIFIER = new Set(stemsOf('code key token number url path file filename'));
export const SUFFIXES = new Set([...IDENTIFIER, ...MAYBE_IDENTIFIER, 'name']);
export const NAME_IN_TEXT = /\w(?:[\w.-]*\w)?/gu;

export function profilesOf(tools: readonly Tool[]): Profile[] {
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
  const read = tools.map((tool) => {
    const own = argumentsOf(tool, tool.inputSchema, surroundings);
    return { tool, own, inner: nestedOf(tool, tool.inputSchema, surroundings) };
  });
  const withCodes = codesShared(read.flatMap(({ own, inner }) => [...own, ...inner]));
  return read.map(({ tool, ...read }) => {
    const own = read.own.map(withCodes);
    const all = [...own, ...read.inner.map(withCodes)];
    const codes = new Set(all.flatMap((one) => [...one.codes]));
    const identifiers = all.filter(({ isIdentifier }) => isIdentifier);
    const words = stemsOf(tool.name);
    const required = own.filter(({ isRequired }) => isRequired);
    const isSearch = required.some((one) => !one.isIdentifier && one.schema.type === 'string');
    const ends = [0, 1, 2].map((start) => words.slice(start)).filter(({ length }) => length > 1);
    const phrases = ends.map((end) => ` ${end.join(' ')} `);
    const found = { words, codes, identifiers, required, phrases, isSearch };
    return { ...found, tool, arguments: own, fields: fields.get(tool) ?? [] };
  });
}

/** An identifier whose schema shows no code has the forms of those that others show for what it names. */
function codesShared(all: readonly Argument[]): (one: Argument) => Argument {
  const known = new Map<string, Set<string>>();
  const keyOf = (thing: string | undefined, { kind }: Argument) => `${thing} ${kind}`;
  for (const one of all) {
    if (!one.isIdentifier || one.codes.size === 0 || one.things.length === 0) continue;
    const key = keyOf(one.things[0], one);
    known.set(key, new Set([...(known.get(key) ?? []), ...one.codes]));
  }
  const shown = new Set(all.flatMap(({ isIdentifier, codes }) => (isIdentifier ? [...codes] : [])));
  return (argument) => {
    const one = { ...argument, shown };
    if (!one.isIdentifier || isNumber(one.schema) || one.codes.size > 0) return one;
    const described = stemsOf(firstSentence(String(one.schema.description ?? '')));
    const found = [...one.things, ...described].flatMap((thing) => known.get(keyOf(thing, one)) ?? []);
    return { ...one, codes: found[0] ?? one.codes };
  };
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
    const codes = new Set(codesShown(schema, tool.inputSchema).keys());
    return [
      {
        tool,
        name,
        isRequired,
        schema,
        codes,
        shown: codes,
        key,
        words,
        kind,
        things,
        named,
        identified,
        isIdentifier,
      },
    ];
  });
}

/** "Ids of the drivers who take part", but not "ID or name of the channel". */
function isIdentifierBy(description: readonly string[]): boolean {
  return description.slice(0, 2).some((word) => IDENTIFIER.has(word)) && !description.includes('name');
}

export interface ResultField extends Field {
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
