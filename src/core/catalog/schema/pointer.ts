/** Finds what a `$ref` inside one document points to. */
import type { JsonSchema } from '../tool.js';
import { isObject } from './json.js';

/**
 * The node behind `#`, `#/a/b`, `#anchor` or the document's own `$id`; `undefined` for what is not in the
 * document. Nothing is ever fetched.
 */
export function resolveReference(root: JsonSchema, reference: string): unknown {
  const own = [root.$id, root.id].find((id) => typeof id === 'string' && id !== '' && reference.startsWith(id));
  const fragment = typeof own === 'string' ? reference.slice(own.length) || '#' : reference;
  if (fragment === '#' || fragment === '#/') return root;
  if (fragment.startsWith('#/')) return followPointer(root, fragment.slice(2));
  return fragment.startsWith('#') ? findAnchor(root, fragment.slice(1)) : undefined;
}

export function isRemote(reference: string): boolean {
  return !reference.startsWith('#');
}

/** Last word of a reference, as a name for a definition: `#/$defs/Node` -> `Node`. */
export function nameOfReference(reference: string): string {
  const last = reference.split(/[/#]/).pop() ?? '';
  return unescapePart(last).replace(/[^\p{L}\p{N}_.-]/gu, '_') || 'root';
}

function followPointer(root: JsonSchema, pointer: string): unknown {
  let node: unknown = root;
  for (const part of pointer.split('/')) {
    const key = unescapePart(part);
    if (Array.isArray(node)) node = node[Number(key)];
    else if (isObject(node) && Object.hasOwn(node, key)) node = node[key];
    else return undefined;
  }
  return node;
}

function unescapePart(part: string): string {
  const plain = part.replaceAll('~1', '/').replaceAll('~0', '~');
  try {
    return decodeURIComponent(plain);
  } catch {
    return plain;
  }
}

function findAnchor(root: JsonSchema, anchor: string): unknown {
  for (const holder of [root.$defs, root.definitions]) {
    if (!isObject(holder)) continue;
    const found = Object.values(holder).find(
      (node) => isObject(node) && [node.$anchor, node.$dynamicAnchor, node.$id, node.id].includes(anchor),
    );
    if (found !== undefined) return found;
  }
  return undefined;
}
