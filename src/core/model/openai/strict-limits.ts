/**
 * What OpenAI's strict mode refuses in a schema that is otherwise of its form: too much of everything, and forms of an
 * `anyOf` that it can't tell apart by their first key. Figures of 2026; they have only ever been raised.
 */
import { isObject } from '../../catalog/schema/json.js';
import type { JsonSchema } from '../../catalog/tool.js';

const MAX_PROPERTIES = 5_000;
/** Objects inside of objects. */
const MAX_NESTING = 10;
/** Of all names, definitions and constants. */
const MAX_CHARACTERS = 120_000;
const MAX_VALUES = 1_000;
/** An enum of texts with more values than `LONG_ENUM` has at most so many characters in all. */
const MAX_ENUM_CHARACTERS = 15_000;
const LONG_ENUM = 250;

interface Tally {
  properties: number;
  nesting: number;
  characters: number;
  values: number;
}

export function isTakenByStrictMode(schema: JsonSchema): boolean {
  const definitions = isObject(schema.$defs) ? schema.$defs : {};
  const tally: Tally = { properties: 0, nesting: 0, characters: Object.keys(definitions).join('').length, values: 0 };
  const roots = [schema, ...Object.values(definitions)];
  const isEachTaken = roots.every((root) => isNodeTaken(root, { tally, definitions, nesting: 0 }));
  return (
    isEachTaken &&
    tally.properties <= MAX_PROPERTIES &&
    tally.nesting <= MAX_NESTING &&
    tally.characters <= MAX_CHARACTERS &&
    tally.values <= MAX_VALUES
  );
}

interface Walk {
  readonly tally: Tally;
  readonly definitions: JsonSchema;
  readonly nesting: number;
}

/** Counts the node and all below it. */
function isNodeTaken(node: unknown, walk: Walk): boolean {
  if (!isObject(node)) return true;
  const { tally } = walk;
  const values = Array.isArray(node.enum) ? node.enum : 'const' in node ? [node.const] : [];
  const letters = values.reduce<number>((sum, value) => sum + (typeof value === 'string' ? value.length : 0), 0);
  tally.values += Array.isArray(node.enum) ? values.length : 0;
  tally.characters += letters;
  if (values.length > LONG_ENUM && letters > MAX_ENUM_CHARACTERS) return false;
  const properties = Object.entries(isObject(node.properties) ? node.properties : {});
  const nesting = walk.nesting + (node.type === 'object' ? 1 : 0);
  tally.properties += properties.length;
  tally.characters += properties.reduce((sum, [name]) => sum + name.length, 0);
  tally.nesting = Math.max(tally.nesting, nesting);
  const forms = Array.isArray(node.anyOf) ? node.anyOf : [];
  const below = [...properties.map(([, property]) => property), ...forms, node.items];
  return hasDistinctKeys(forms, walk) && below.every((inner) => isNodeTaken(inner, { ...walk, nesting }));
}

/** "Objects provided via 'anyOf' must not share identical first keys", unless its constants tell them apart. */
function hasDistinctKeys(forms: readonly unknown[], { definitions }: Walk): boolean {
  const keys = forms.flatMap((form) => firstKeysOf(form, definitions, 0));
  return keys.every(({ name, value }, index) => {
    const others = keys.filter((key, place) => place !== index && key.name === name);
    return others.length === 0 || (value !== undefined && others.every((key) => (key.value ?? value) !== value));
  });
}

interface FirstKey {
  name: string;
  /** Where it is a constant. */
  value: unknown;
}

function firstKeysOf(form: unknown, definitions: JsonSchema, depth: number): FirstKey[] {
  if (!isObject(form) || depth > MAX_NESTING) return [];
  if (typeof form.$ref === 'string')
    return firstKeysOf(definitions[form.$ref.slice('#/$defs/'.length)], definitions, depth + 1);
  if (Array.isArray(form.anyOf)) return form.anyOf.flatMap((inner) => firstKeysOf(inner, definitions, depth + 1));
  if (form.type !== 'object' || !isObject(form.properties)) return [];
  const [first] = Object.entries(form.properties);
  return [
    first ? { name: first[0], value: isObject(first[1]) ? first[1].const : undefined } : { name: '', value: undefined },
  ];
}
