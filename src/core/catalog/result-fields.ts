/** The fields that a tool's result can have, each with its path. References and forms of one node are followed. */
import { stemmer } from 'stemmer';
import { isObject } from './schema/json.js';
import { resolveReference } from './schema/paths.js';
import type { JsonSchema } from './tool.js';

export interface ResultField {
  /** From the root of the result, for example `['rooms', 0, 'id']`; lists are entered at their first element. */
  readonly path: readonly (string | number)[];
  /** Stems of the field's own name; of an element, those of its list. */
  readonly words: readonly string[];
  /** Stems of the names of the objects and lists around the field. */
  readonly owners: ReadonlySet<string>;
  readonly schema: JsonSchema;
}

const MAX = { depth: 6, fields: 400 };

/** The fields of an output schema: at most 400, down to six levels; a definition inside itself is entered once. */
export function resultFields(root: JsonSchema): ResultField[] {
  const found = new Map<string, ResultField>();
  visit({ path: [], words: [], owners: new Set(), schema: root }, new Set());
  return [...found.values()];

  function visit(field: ResultField, around: ReadonlySet<unknown>): void {
    const { schema: node, path, words, owners } = field;
    if (around.has(node) || path.length > MAX.depth || found.size >= MAX.fields) return;
    const inside = new Set([...around, node]);
    if (path.length > 0) found.set(JSON.stringify(path), found.get(JSON.stringify(path)) ?? field);
    const target = typeof node.$ref === 'string' ? resolveReference(root, node.$ref) : undefined;
    for (const schema of [target, node.allOf, node.anyOf, node.oneOf].flat())
      if (isObject(schema)) visit({ ...field, schema }, inside);
    const nested = new Set([...owners, ...words]);
    for (const [name, schema] of Object.entries(isObject(node.properties) ? node.properties : {}))
      if (isObject(schema)) visit({ path: [...path, name], words: stemsOf(name), owners: nested, schema }, inside);
    for (const [place, schema] of [node.prefixItems ?? node.items].flat().entries())
      if (isObject(schema)) visit({ path: [...path, place], words, owners, schema }, inside);
  }
}

/** The words of an identifier or a text, lower case, by their English stems: `getMovies` -> `get`, `movi`. */
export function stemsOf(text: string): string[] {
  const split = text.replace(/([\p{Ll}\d])(?=\p{Lu})|(\p{Lu})(?=\p{Lu}\p{Ll}{2})/gu, '$1$2 ');
  return (split.match(/[\p{L}\p{N}]+/gu) ?? []).map((word) => stemmer(word.toLowerCase()));
}
