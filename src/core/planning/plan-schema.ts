/**
 * The schema of a written plan. Each step has its `tool` as a constant with that tool's arguments, so under constrained
 * decoding no argument name can be wrong.
 */
import { isObject, mapChildren, objectOf } from '../catalog/schema/json.js';
import { fittedSchemas } from '../catalog/schema/normalise.js';
import { shownTool } from '../catalog/shown.js';
import type { JsonSchema, Tool } from '../catalog/tool.js';
import { oncePer } from '../kept.js';

const text = { type: 'string' } as const;
/** A reference as the whole value, for arguments whose schema allows no plain text. */
const REFERENCE = { type: 'string', pattern: '^\\$\\{s[1-9][0-9]?[^{}]*\\}$' } as const;
const ORDER = {
  type: 'array',
  items: text,
  description: 'Ids of earlier steps that must be done first, where no reference says so.',
} as const;

/** @param options.canNeedTools whether one more round of selection is possible */
export function planAnswerSchema(tools: readonly Tool[], { canNeedTools }: { canNeedTools: boolean }): JsonSchema {
  const definitions: Record<string, JsonSchema> = {};
  const steps = tools.map((tool, place) => stepSchema(tool, `t${place + 1}`, definitions));
  const answers = [
    ...(steps.length > 0 ? [answer('plan', { steps: { type: 'array', minItems: 1, items: { anyOf: steps } } })] : []),
    answer('clarification', { question: text, missing: { type: 'array', items: text } }),
    ...(canNeedTools ? [answer('needTools', { needTools: text })] : []),
    answer('unplannable', { reason: text }),
  ];
  return { anyOf: answers, ...(Object.keys(definitions).length > 0 ? { $defs: definitions } : {}) };
}

function answer(kind: string, properties: Record<string, unknown>): JsonSchema {
  return {
    type: 'object',
    properties: { kind: { const: kind }, ...properties },
    required: ['kind', ...Object.keys(properties)],
    additionalProperties: false,
  };
}

function stepSchema(tool: Tool, prefix: string, definitions: Record<string, JsonSchema>): JsonSchema {
  const { own, input } = inputOf(tool);
  for (const [name, schema] of own) definitions[`${prefix}_${name}`] = prefixDefinitions(schema, prefix);
  const properties = {
    id: { type: 'string', pattern: '^s[1-9][0-9]?$' },
    tool: { const: tool.name },
    arguments: own.length > 0 ? prefixDefinitions(input, prefix) : input,
    dependsOn: ORDER,
  };
  return { type: 'object', properties, required: ['id', 'tool', 'arguments'], additionalProperties: false };
}

/** The input schema of a tool and its definitions, extended so that each value may be a reference. */
const inputOf = oncePer((tool: Tool) => {
  const { $defs, ...input } = fittedSchemas(shownTool(tool)).input;
  const own = Object.entries(objectOf($defs)).filter((entry): entry is [string, JsonSchema] => isObject(entry[1]));
  return { input: withReferences(input), own: own.map(([name, schema]) => [name, withReferences(schema)] as const) };
});

function withReferences(schema: JsonSchema): JsonSchema {
  return mapChildren(schema, ({ keyword, value }) =>
    keyword === 'properties' || keyword === 'items' ? orReference(value) : value,
  );
}

/** A plain string can already be a reference; every other schema gets the reference as an alternative. */
function orReference(schema: unknown): unknown {
  if (!isObject(schema)) return schema;
  const isPlain = schema.type === 'string' && !['enum', 'format', 'pattern', 'const'].some((key) => key in schema);
  return isPlain ? schema : { anyOf: [withReferences(schema), REFERENCE] };
}

/** `$ref: #/$defs/node` -> `#/$defs/t2_node`, since the definitions of all tools share one schema. */
export function prefixDefinitions(schema: JsonSchema, prefix: string): JsonSchema {
  const text = JSON.stringify(schema).replaceAll('"$ref":"#/$defs/', `"$ref":"#/$defs/${prefix}_`);
  return JSON.parse(text);
}
