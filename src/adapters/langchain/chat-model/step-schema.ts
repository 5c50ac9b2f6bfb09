/** The schema under which a step is decoded: a call of one of the bound tools with its own arguments, or an answer. */
import { isObject } from '../../../core/catalog/schema/json.js';
import { fittedSchemas } from '../../../core/catalog/schema/normalise.js';
import type { JsonSchema, Tool } from '../../../core/catalog/tool.js';
import { prefixDefinitions } from '../../../core/planning/plan-schema.js';

export interface StepSchemaOptions {
  /** Whether the model may answer in place of a call. */
  canAnswer: boolean;
}

export function stepSchema(tools: readonly Tool[], { canAnswer }: StepSchemaOptions): JsonSchema {
  const definitions: Record<string, JsonSchema> = {};
  const calls = tools.map((tool, place) => {
    const prefix = `t${place + 1}`;
    const { $defs, ...input } = fittedSchemas(tool).input;
    for (const [name, schema] of Object.entries(isObject($defs) ? $defs : {}))
      if (isObject(schema)) definitions[`${prefix}_${name}`] = prefixDefinitions(schema, prefix);
    return member({ tool: { const: tool.name }, arguments: prefixDefinitions(input, prefix) });
  });
  const members = [...calls, ...(canAnswer ? [member({ answer: { type: 'string' } })] : [])];
  return { anyOf: members, ...(Object.keys(definitions).length > 0 ? { $defs: definitions } : {}) };
}

function member(properties: Readonly<Record<string, JsonSchema>>): JsonSchema {
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false };
}
