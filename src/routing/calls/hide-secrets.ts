/**
 * Arguments as whoever approves them sees them: all as it will run, but for what the tool's schema marks secret. That is
 * told by its length and a keyed digest, so that two that differ look different and none can be guessed.
 */
import { childrenOf, isObject } from '../../core/catalog/schema/json.js';
import { isMarkedSecret, resolveReference } from '../../core/catalog/schema/paths.js';
import type { JsonSchema } from '../../core/catalog/tool.js';
import { canonicalJson } from '../approvals/canonical-json.js';

/** @param digest keyed; its first digits are shown */
export function hideSecrets(schema: JsonSchema, value: unknown, digest: (value: unknown) => string): unknown {
  const hide = (part: unknown, nodes: readonly JsonSchema[]): unknown => {
    const holding = nodesHolding(schema, nodes);
    if (holding.some(isMarkedSecret)) return describe(part, digest);
    if (Array.isArray(part)) return part.map((item, index) => hide(item, itemSchemas(holding, index)));
    if (!isObject(part)) return part;
    return Object.fromEntries(
      Object.entries(part).map(([key, field]) => [key, hide(field, fieldSchemas(holding, key))]),
    );
  };
  return hide(value, [schema]);
}

function describe(value: unknown, digest: (value: unknown) => string): string {
  const characters = [...(typeof value === 'string' ? value : canonicalJson(value))].length;
  return `[secret: ${characters} characters, ${digest(value).slice(0, 8)}]`;
}

/** Keywords whose schemas are about the same value. */
const SAME_VALUE = new Set(['allOf', 'anyOf', 'oneOf', 'if', 'then', 'else', 'dependentSchemas']);

/** The schemas with all that hold, or may hold, for the same value. */
function nodesHolding(schema: JsonSchema, nodes: readonly JsonSchema[]): JsonSchema[] {
  const found = new Set<JsonSchema>();
  const waiting: unknown[] = [...nodes];
  while (waiting.length > 0) {
    const node = waiting.pop();
    if (!isObject(node) || found.has(node)) continue;
    found.add(node);
    if (typeof node.$ref === 'string') waiting.push(resolveReference(schema, node.$ref));
    for (const { keyword, value } of childrenOf(node)) if (SAME_VALUE.has(keyword)) waiting.push(value);
  }
  return [...found];
}

function fieldSchemas(nodes: readonly JsonSchema[], key: string): JsonSchema[] {
  return nodes.flatMap((node) =>
    childrenOf(node).flatMap(({ keyword, step, value }) => {
      // Whether a pattern is meant is not tried: a mark of any of them hides the value.
      const isOwn =
        keyword === 'properties' ? step === key : keyword === 'patternProperties' || isRest(node, keyword, key);
      return isOwn && isObject(value) ? [value] : [];
    }),
  );
}

function isRest({ properties }: JsonSchema, keyword: string, key: string): boolean {
  return keyword === 'additionalProperties' && !(isObject(properties) && Object.hasOwn(properties, key));
}

function itemSchemas(nodes: readonly JsonSchema[], index: number): JsonSchema[] {
  return nodes.flatMap((node) =>
    childrenOf(node).flatMap(({ keyword, step, value }) => {
      const isOwn = keyword === 'prefixItems' ? step === index : keyword === 'items' && (step ?? index) === index;
      return isOwn && isObject(value) ? [value] : [];
    }),
  );
}
