/** Where a `$ref` leads within its document. Fetches nothing. */
import { oncePer } from '../../kept.js';
import { visibleText } from '../../visible-text.js';
import type { JsonSchema } from '../tool.js';
import { childrenOf, isObject, objectOf } from './json.js';

/** Stops at circular references. */
const MAX_DEPTH = 16;

/** The target of `#`, `#/a/b`, an anchor, an `$id`, or what stands behind one; `undefined` if it is not in the document. */
export function resolveReference(root: unknown, reference: string): unknown {
  const [address, fragment] = cut(reference);
  const resource = address === '' ? root : resourceAt(objectOf(root), address);
  if (/^[^/]/u.test(fragment)) return namedNodes(objectOf(resource)).get(`#${fragment}`);
  return pointerParts(decoded(fragment)).reduce(
    (node, key) => (Object.hasOwn(Object(node), key) ? Reflect.get(Object(node), key) : undefined),
    resource,
  );
}

/** `a#b` -> `['a', 'b']` */
function cut(reference: string): [address: string, fragment: string] {
  const at = `${reference}#`.indexOf('#');
  return [reference.slice(0, at), reference.slice(at + 1)];
}

/** As bundled documents of 2020-12 have them: `a` is one with the `$id` `https://b.example/a`, where the root is of that place. */
function resourceAt(root: JsonSchema, address: string): JsonSchema | undefined {
  return namedNodes(root).get(addressOf(address, addressOf(`${root.$id ?? ''}`)));
}

/** Longer ones are compared as they stand, since each reference is read against its base. */
const MOST_OF_ADDRESS = 1_000;

/** As a whole address. All documents without one begin at the same place. */
export function addressOf(reference: string, base = 'schema:/'): string {
  const isLong = reference.length + base.length > MOST_OF_ADDRESS;
  return !isLong && URL.canParse(reference, base) ? new URL(reference, base).href : reference;
}

/** Nodes by their own anchors, and by their ids as whole addresses; of two with one name the outer one. */
const namedNodes = oncePer((root: JsonSchema): ReadonlyMap<string, JsonSchema> => {
  const named = new Map<string, JsonSchema>();
  const visit = (node: unknown, base?: string): void => {
    if (!isObject(node)) return;
    const [id, anchor] = cut(typeof node.$id === 'string' ? node.$id : '');
    const address = id === '' ? base : addressOf(id, base);
    const anchors = [anchor, node.$anchor, node.$dynamicAnchor].flatMap((name) => (name ? `#${name}` : []));
    for (const name of [address, ...anchors]) if (name !== undefined && !named.has(name)) named.set(name, node);
    for (const { value } of childrenOf(node)) visit(value, address);
  };
  visit(root);
  return named;
});

/** The node, or its `$ref`'s target merged with the keywords beside it. Undefined for no target, or a circle. */
export function dereference(root: unknown, node: unknown, depth = 0): JsonSchema | undefined {
  if (!isObject(node) || typeof node.$ref !== 'string') return isObject(node) ? node : undefined;
  const { $ref, ...beside } = node;
  const target = depth < MAX_DEPTH ? dereference(root, resolveReference(root, $ref), depth + 1) : undefined;
  return target && { ...target, ...beside };
}

export function nameOfReference(reference: string): string {
  const name = pointerParts(decoded(reference)).at(-1) ?? '';
  return visibleText(name).replace(/[^\p{L}\p{N}_.-]+/gu, '_') || 'root';
}

export function pointerParts(pointer: string): string[] {
  const parts = pointer.split('/').slice(1);
  return parts.map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function decoded(reference: string): string {
  try {
    return decodeURIComponent(reference);
  } catch {
    return reference;
  }
}
