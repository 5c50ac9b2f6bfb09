/**
 * How large the schema of a tool may be. Readers may expand each `$ref` in place, so the limits apply to the size with all
 * references expanded. The count visits each node once and expands nothing.
 */
import { type JsonSchema, MAX_SCHEMA_BYTES } from '../tool.js';
import { childrenOf, isObject, objectOf } from './json.js';
import { partsOf } from './paths.js';
import { addressOf, resolveReference } from './references.js';
import { MOST_PATTERN_SIZE, sizeOfPattern } from './safe-pattern.js';

/**
 * Of 7,370 schemas of real servers and public sets the largest has 1,030 nodes, 14 levels and 71,381 bytes. `nodes`: with
 * references expanded, a recursive definition once; a node with several checks, a pattern, or a name that requires others, counts
 * as several. `depth`: through references. `bytes`: as JSON.
 */
export const MOST = { nodes: 2_000, depth: 64, bytes: MAX_SCHEMA_BYTES };

/** A pattern takes a millisecond to compile, however short; 7,370 schemas of real tools have 122 in all. */
const NODES_PER_PATTERN = 16;
const PATTERN_SIZE_PER_NODE = 8;

/** Keywords with a check of their own. Two take about as long to compile as a bare node. */
const CHECKS = [
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'minLength', 'maxLength', 'format'],
  ...['minItems', 'maxItems', 'uniqueItems', 'contains', 'minProperties', 'maxProperties', 'propertyNames'],
  ...['enum', 'const', 'unevaluatedProperties', 'unevaluatedItems'],
];
const CHECKS_PER_NODE = 2;
const REQUIRED_PER_NODE = 4;

/** Why the schema is too large to be used, or means two things, as the end of a sentence; undefined where it is not. */
export function findSizeProblem(schema: JsonSchema): string | undefined {
  const bytes = Buffer.byteLength(JSON.stringify(schema));
  if (bytes > MOST.bytes) return `has ${bytes} bytes, more than ${MOST.bytes}: shorten it`;
  const ambiguous = findAmbiguousReference(schema, schema);
  if (ambiguous !== undefined)
    return `has the reference "${ambiguous}" inside a schema with an $id: take that $id out, and write it from the root`;
  const sizes = measure(schema);
  const { nodes = 0, depth = 0 } = sizes.get(schema) ?? {};
  if (depth > MOST.depth) return `is nested more than ${MOST.depth} levels deep: make it flatter`;
  const inPlace = nodes > MOST.nodes ? 0 : mostInPlace(sizes.keys(), schema);
  if (inPlace === Infinity) return 'has a $ref that leads back to itself without a step into the value: take it out';
  if (Math.max(nodes, inPlace) <= MOST.nodes) return undefined;
  return `has more than ${MOST.nodes} nodes and checks with its references written out: say less, or refer to fewer definitions`;
}

/** A reference inside a schema with its own `$id`, which leads elsewhere there than from the root, where readers begin. */
function findAmbiguousReference(
  node: JsonSchema,
  root: JsonSchema,
  base: { readonly node: JsonSchema; readonly address?: string } = { node: root },
): string | undefined {
  const { $id, $ref } = node;
  const isBase = typeof $id === 'string' && !$id.startsWith('#');
  const inner = isBase ? { node, address: addressOf($id, base.address) } : base;
  if (inner.node !== root && typeof $ref === 'string') {
    const isWithin = $ref.startsWith('#');
    const target = isWithin
      ? resolveReference(inner.node, $ref)
      : resolveReference(root, addressOf($ref, inner.address));
    if (target !== undefined && target !== resolveReference(root, $ref)) return $ref;
  }
  for (const { value } of childrenOf(node)) {
    const found = isObject(value) ? findAmbiguousReference(value, root, inner) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

interface Size {
  readonly nodes: number;
  readonly depth: number;
}

/** The size of each node that validates values. A recursive node counts once; nodes that are too deep are not entered. */
function measure(root: JsonSchema): Map<JsonSchema, Size> {
  const sizes = new Map<JsonSchema, Size>();
  const visit = (node: JsonSchema, level: number): Size => {
    const known = sizes.get(node);
    if (known) return known;
    const alone = { nodes: 1, depth: 1 };
    sizes.set(node, alone);
    if (level > MOST.depth) return alone;
    const parts = partsOf(node, root).flatMap(({ about, node: part }) =>
      about === 'definition' ? [] : [visit(part, level + 1)],
    );
    const whole = {
      nodes: parts.reduce(
        (sum, { nodes }) => sum + nodes,
        1 + checkNodes(node) + patternNodes(node) + demandNodes(node) + formNodes(node),
      ),
      depth: parts.reduce((most, { depth }) => Math.max(most, depth), 0) + 1,
    };
    sizes.set(node, whole);
    return whole;
  };
  visit(root, 1);
  return sizes;
}

function checkNodes(node: JsonSchema): number {
  const checks = CHECKS.filter((keyword) => node[keyword] !== undefined).length;
  const required = Array.isArray(node.required) ? node.required.length : 0;
  return checks / CHECKS_PER_NODE + required / REQUIRED_PER_NODE;
}

function patternNodes({ pattern, patternProperties }: JsonSchema): number {
  const patterns = [...(typeof pattern === 'string' ? [pattern] : []), ...Object.keys(objectOf(patternProperties))];
  const sizes = patterns.map((one) => Math.min(sizeOfPattern(one), MOST_PATTERN_SIZE));
  return sizes.reduce((sum, size) => sum + NODES_PER_PATTERN + Math.ceil(size / PATTERN_SIZE_PER_NODE), 0);
}

/** Cost of alternatives, of which a check compiles each inside the one before; it is dear for hundreds of them. */
function formNodes({ oneOf, anyOf }: JsonSchema): number {
  const [ones, anys] = [oneOf, anyOf].map((forms) => (Array.isArray(forms) ? forms.length : 0));
  return Math.floor((ones ?? 0) ** 2 / 50 + (anys ?? 0) ** 2 / 500);
}

/** Cost of names that require others: ajv checks each required name with a message that lists all of them. */
export function demandNodes({ dependentRequired, dependencies }: JsonSchema): number {
  const demanded = [dependentRequired, dependencies].flatMap((names) => Object.values(objectOf(names)));
  return demanded.reduce<number>((sum, names) => sum + (Array.isArray(names) ? names.length ** 2 : 0), 0);
}

/**
 * The largest number of nodes that validate one and the same value, with references expanded; `Infinity` if a node leads
 * back to itself. Iterative, since a long chain would overflow the stack.
 */
function mostInPlace(nodes: Iterable<JsonSchema>, root: JsonSchema): number {
  const sizes = new Map<JsonSchema, number>();
  for (const start of nodes) {
    const stack = sizes.has(start) ? [] : [start];
    for (let node = stack.at(-1); node; node = stack.at(-1)) {
      const parts = partsOf(node, root).flatMap(({ about, node: part }) => (about === 'same' ? [part] : []));
      const isEntered = sizes.has(node);
      if (isEntered) stack.pop();
      else stack.push(...parts.filter((part) => !sizes.has(part)));
      const size = parts.reduce((sum, part) => sum + (sizes.get(part) ?? 0), 1);
      // A node is infinite until all its parts are done: meeting it earlier means a circle.
      sizes.set(node, isEntered ? size : Infinity);
      if (!isEntered && parts.some((part) => sizes.get(part) === Infinity)) return Infinity;
    }
  }
  return Math.max(...sizes.values());
}
