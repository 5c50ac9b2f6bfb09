/**
 * A response schema in the subset that OpenAI's strict mode takes: the root is an object, every property is required
 * (an optional one may be null), no object is open. What the subset has no word for is left to the check of the answer.
 * Rules: OpenAI, "Structured model outputs", sections "Supported schemas" and "JSON Schema is supported".
 */
import { isObject, withoutRepeats } from '../../catalog/schema/json.js';
import { resolveReference } from '../../catalog/schema/paths.js';
import type { JsonSchema } from '../../catalog/tool.js';
import { elementsOf, type Form, type FormOf, formsOf, membersOf } from '../schema-forms.js';
import { fieldOf, parseJson } from './failure.js';

export interface StrictSchema {
  readonly schema: JsonSchema;
  /** The text of an answer as it would be under the schema that this one was made of; nulls stay. */
  unwrap(text: string): string;
}

/** The root's only property, where the schema describes no object. */
const WRAPPER = 'answer';

/** `undefined` where the subset can't say it: a value of any form, an object of any names, what is too large. */
export function toStrictSchema(schema: JsonSchema): StrictSchema | undefined {
  try {
    const definitions = new Map<string, JsonSchema>();
    const root = strictNode(schema, { root: schema, definitions, size: { values: 0 }, depth: 0 });
    const isWrapped = root.type !== 'object';
    const strict = {
      ...(isWrapped ? closedObject({ [WRAPPER]: root }) : root),
      ...(definitions.size > 0 ? { $defs: Object.fromEntries(definitions) } : {}),
    };
    return { schema: strict, unwrap: isWrapped ? unwrap : (text) => text };
  } catch (error) {
    if (error instanceof InexpressibleError) return undefined;
    throw error;
  }
}

/** A cut answer and a refusal in words stay as they are. */
function unwrap(text: string): string {
  const inner = fieldOf(parseJson(text), WRAPPER);
  return inner === undefined ? text : JSON.stringify(inner);
}

/** Internal: never leaves this file. */
class InexpressibleError extends Error {}

interface Build {
  readonly root: JsonSchema;
  /** The definitions that are referred to, converted. */
  readonly definitions: Map<string, JsonSchema>;
  /** Of all enums together. */
  readonly size: { values: number };
  /** Nodes above this one. */
  readonly depth: number;
}

/** What the mode takes at most, in 2026: the figures have only ever been raised. */
const MOST = { values: 1_000, shortEnum: 250, enumCharacters: 15_000 };
const MAX_DEPTH = 64;

function strictNode(node: unknown, above: Build): JsonSchema {
  const build = { ...above, depth: above.depth + 1 };
  if (build.depth > MAX_DEPTH) throw new InexpressibleError();
  const forms = formsOf(node, build.root).map((form) => strictForm(form, build));
  const strict = union(forms, build);
  // A reference stands alone: the server refuses every word beside it.
  return '$ref' in strict || !isObject(node) ? strict : { ...wordsOf(node), ...strict };
}

function wordsOf({ description }: JsonSchema): JsonSchema {
  return typeof description === 'string' ? { description } : {};
}

function strictForm(form: Form, build: Build): JsonSchema {
  if (form.kind === 'any') throw new InexpressibleError();
  if (form.kind === 'reference') return referenceNode(form.reference, build);
  const made = form.kind === 'type' ? typedNode(form, build) : constants(form, build);
  return { ...wordsOf(form.node), ...made };
}

function referenceNode(reference: string, build: Build): JsonSchema {
  const name = /^#\/\$defs\/([^/~%]+)$/.exec(reference)?.[1];
  if (name === undefined) throw new InexpressibleError();
  if (!build.definitions.has(name)) {
    // Its place is taken first: a definition may refer to itself.
    build.definitions.set(name, {});
    build.definitions.set(name, strictNode(resolveReference(build.root, reference), build));
  }
  return { $ref: reference };
}

function constants({ type, values }: FormOf<'values'>, { size }: Build): JsonSchema {
  if (type === 'null') return { type };
  if (values.length === 1 && type !== 'object' && type !== 'array') return { type, const: values[0] };
  size.values += values.length;
  const isLong = values.length > MOST.shortEnum && values.join('').length > MOST.enumCharacters;
  if (type === 'object' || type === 'array' || isLong || size.values > MOST.values) throw new InexpressibleError();
  return { type, enum: values };
}

const NUMBER_WORDS = ['multipleOf', 'minimum', 'exclusiveMinimum', 'maximum', 'exclusiveMaximum'];
const FORMATS: readonly unknown[] = 'date-time time date duration email hostname ipv4 ipv6 uuid'.split(' ');
/** Lookaround is refused with the whole schema; back-references and the like are no better known to it. */
const BEYOND_ITS_PATTERNS = /\(\?(?!:)|\\[1-9bBkpP]/;

function typedNode({ node, type }: FormOf<'type'>, build: Build): JsonSchema {
  if (type === 'object') return objectNode(node, build);
  if (type === 'array') {
    const elements = elementsOf(node).map((element) => strictNode(element, build));
    return { type, items: union(elements, build), ...numbers(node, ['minItems', 'maxItems']) };
  }
  if (type !== 'string') return { type, ...(type === 'null' || type === 'boolean' ? {} : numbers(node, NUMBER_WORDS)) };
  const { format, pattern } = node;
  const isPattern = typeof pattern === 'string' && !BEYOND_ITS_PATTERNS.test(pattern);
  return { type, ...(FORMATS.includes(format) ? { format } : {}), ...(isPattern ? { pattern } : {}) };
}

function numbers(node: JsonSchema, words: readonly string[]): JsonSchema {
  return Object.fromEntries(words.filter((word) => typeof node[word] === 'number').map((word) => [word, node[word]]));
}

/** Names beyond those listed can't be written; an object without any is open. */
function objectNode(node: JsonSchema, build: Build): JsonSchema {
  const members = membersOf(node);
  const isOpen = node.additionalProperties !== false && (!isObject(node.properties) || 'additionalProperties' in node);
  if (members.length === 0 && isOpen) throw new InexpressibleError();
  const properties = members.map(({ name, schema, isRequired }) => {
    const property = strictNode(schema, build);
    return [name, isRequired ? property : union([property, { type: 'null' }], build)] as const;
  });
  // The server tells the forms of an `anyOf` apart by their first key: constants go first.
  const ordered = properties.sort(([, one], [, other]) => Number('const' in other) - Number('const' in one));
  return closedObject(Object.fromEntries(ordered));
}

function closedObject(properties: JsonSchema): JsonSchema {
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false };
}

/** One of the nodes. The server wants those that are objects to differ in the first key or its constant. */
function union(nodes: readonly JsonSchema[], { definitions }: Build): JsonSchema {
  const inner = (node: JsonSchema) =>
    Array.isArray(node.anyOf) && Object.keys(node).length === 1 ? node.anyOf : [node];
  const forms = withoutRepeats(nodes.flatMap(inner)).filter(isObject);
  const firstKeys = forms.flatMap((form) => {
    const { properties } = definitions.get(String(form.$ref).replace('#/$defs/', '')) ?? form;
    const [first] = Object.entries(Object(properties));
    return first ? [JSON.stringify([first[0], Object(first[1]).const])] : [];
  });
  const [only] = forms;
  if (only === undefined || new Set(firstKeys).size < firstKeys.length) throw new InexpressibleError();
  return forms.length === 1 ? only : { anyOf: forms };
}
