/** Which arguments of a tool can't come from the request: handles that another tool's result provides. */
import { isObject } from '../../catalog/schema/json.js';
import { firstSentence, oneLine } from '../../catalog/summary.js';
import type { JsonSchema, Tool } from '../../catalog/tool.js';
import { foldPlural, splitIdentifier } from '../../search/words.js';
import { handleStem, identifierWords, isNoun, pathEntities, worksOnPath } from './vocabulary.js';

export interface Need {
  readonly tool: string;
  readonly origin: string;
  readonly argument: string;
  readonly required: boolean;
  /** The argument's name in one spelling, for comparison with output fields: `stationCode` -> `station code`. */
  readonly key: string;
  /** Singular nouns of the thing that the handle names, the surest first; may be empty. */
  readonly entities: readonly string[];
  readonly description: string;
  /** The description's words in singular, lower case, with a space around. */
  readonly said: string;
  /** Description of the whole tool. */
  readonly advice: string;
  readonly schema: JsonSchema;
  /** Where a file or folder lies: a user can name it in words, which no other handle allows. */
  readonly isPath: boolean;
}

/** Words in a description that say: this value comes from somewhere else. */
const FROM_ELSEWHERE =
  /\b(?:ids?|identifiers?|uris?|handles?|tokens?|codes?|keys?)\b.{0,40}\b(?:of|for|from|returned|retrieved|obtained|extracted)\b|\b(?:returned|retrieved|obtained|extracted) (?:by|from)\b|\bIDs?\b|编码|编号|标识|代码/u;
const ENTITY_AFTER =
  /\b(?:ids?|identifiers?|uris?|handles?|codes?|keys?)\b(?:\]?\([^)]*\))?\s+(?:of|for|to)\s+(?:the\s+|an?\s+|this\s+)?([\p{L}]+)/giu;
const ENTITY_BEFORE =
  /\b(?:the|an?|of)\s+([\p{L}]+)(?:'s)?\s+(?:[\p{L}]+\s+)?(?:ids?|identifiers?|uris?|handles?|codes?)\b/giu;

/** What the other tools of the catalogue say about an argument. */
export interface Surroundings {
  /** Output fields, in the spelling of `Need.key` -> the tools that return them. */
  produced: ReadonlyMap<string, ReadonlySet<string>>;
  /** All nouns in the names of tools: what the catalogue is about. */
  nouns: ReadonlySet<string>;
}

/**
 * An argument is a handle when its name says so (`movie_id`, `uri`), or when another tool returns a field of just
 * this name and the description speaks of a value that comes from elsewhere (`stcd`); and the path of what is there.
 */
export function needsOf(tool: Tool, { produced, nouns }: Surroundings): Need[] {
  const properties = propertiesOf(tool.inputSchema);
  const required = new Set(Array.isArray(tool.inputSchema.required) ? tool.inputSchema.required : []);
  return Object.entries(properties).flatMap(([argument, schema]) => {
    const description = oneLine(typeof schema.description === 'string' ? schema.description : '');
    const key = identifierWords(argument).join(' ');
    const place = canHoldPath(schema) && worksOnPath(tool.name, tool.description) ? pathEntities(argument) : undefined;
    if (!canHoldHandle(schema) || !(place || isHandle({ argument, description, key, tool }, produced))) return [];
    const said = ` ${identifierWords(description).join(' ')} `;
    const entities = place ?? entitiesOf(argument, { description, tool, nouns });
    return [
      {
        tool: tool.name,
        origin: tool.origin,
        argument,
        required: required.has(argument),
        key,
        entities,
        description,
        said,
        advice: tool.description,
        schema,
        isPath: place !== undefined,
      },
    ];
  });
}

export function propertiesOf(schema: JsonSchema): Record<string, JsonSchema> {
  const properties = schema.properties;
  if (typeof properties !== 'object' || properties === null) return {};
  return Object.fromEntries(
    Object.entries(properties).filter((entry): entry is [string, JsonSchema] => isObject(entry[1])),
  );
}

function isHandle(
  { argument, description, key, tool }: { argument: string; description: string; key: string; tool: Tool },
  produced: ReadonlyMap<string, ReadonlySet<string>>,
): boolean {
  if (handleStem(argument) !== undefined) return true;
  const others = [...(produced.get(key) ?? [])].filter((name) => name !== tool.name);
  return others.length > 0 && FROM_ELSEWHERE.test(description);
}

function canHoldPath({ type, items, format }: JsonSchema): boolean {
  return (
    (type === 'string' && format === undefined) || (type === 'array' && isObject(items) && items.type === 'string')
  );
}

function canHoldHandle(schema: JsonSchema): boolean {
  if (Array.isArray(schema.enum) || 'const' in schema || 'default' in schema) return false;
  return schema.type !== 'boolean' && schema.format !== 'date' && schema.format !== 'date-time';
}

function entitiesOf(
  argument: string,
  place: { description: string; tool: Tool; nouns: ReadonlySet<string> },
): string[] {
  const { description, tool, nouns } = place;
  const stem = handleStem(argument) ?? '';
  const own = stem.split(' ').filter(isNoun).reverse();
  if (own.length > 0) return unique(own);
  const described = [...description.matchAll(ENTITY_AFTER), ...description.matchAll(ENTITY_BEFORE)].map(
    (match) => match[1] ?? '',
  );
  const path = pathOwner(tool.title ?? '', argument);
  const found = [...path, ...described.map((word) => foldPlural(word.toLowerCase()))].filter(isNoun);
  const mentioned = splitIdentifier(`${argument} ${firstSentence(description)}`)
    .map(foldPlural)
    .filter((word) => nouns.has(word));
  const certain = unique([...found.filter((word) => nouns.has(word)), ...mentioned]).slice(0, 3);
  return certain.length > 0
    ? certain
    : identifierWords(tool.name)
        .filter((word) => nouns.has(word))
        .slice(-1);
}

/** `/albums/{id}/tracks` -> `album`: in a path, the segment before a parameter says whose it is. */
function pathOwner(title: string, argument: string): string[] {
  const before = title.split(`{${argument}}`)[0];
  if (before === undefined || before === title) return [];
  const segment = before.split('/').filter(Boolean).at(-1);
  return segment ? identifierWords(segment).slice(-1) : [];
}

function unique(words: readonly string[]): string[] {
  return [...new Set(words)];
}
