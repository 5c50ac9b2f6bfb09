/**
 * The schema under which a plan is decoded: each step's `tool` a constant with its own arguments, so that a step with
 * a wrong argument name can't be written where the server decodes under schemas.
 */
import type { JsonSchema, Tool } from '../catalog/tool.js';
import { fittedSchemas } from './fitted.js';
import { type ProducedPath, pathsFor, producedPaths } from './produced-paths.js';
import { referenceSchema } from './references.js';

export interface PlanSchemaOptions {
  /** `tool.argument`: the request can't hold the value, an earlier step finds it; only a reference may stand there. */
  references: ReadonlySet<string>;
  /** Whether one more round of selection is possible. */
  canNeedTools: boolean;
}

const text = { type: 'string' } as const;

export function planAnswerSchema(tools: readonly Tool[], options: PlanSchemaOptions): JsonSchema {
  const definitions: Record<string, JsonSchema> = {};
  const paths = producedPaths(tools);
  const steps = tools.map((tool, place) => stepSchema(tool, { prefix: `t${place + 1}`, options, definitions, paths }));
  const answers = [
    ...(steps.length > 0
      ? [
          answer('plan', {
            steps: { type: 'array', minItems: 1, items: steps.length === 1 ? steps[0] : { anyOf: steps } },
          }),
        ]
      : []),
    answer('clarification', { question: text, missing: { type: 'array', items: text } }),
    ...(options.canNeedTools ? [answer('needTools', { needTools: text })] : []),
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

interface StepContext {
  prefix: string;
  options: PlanSchemaOptions;
  definitions: Record<string, JsonSchema>;
  paths: readonly ProducedPath[] | undefined;
}

function stepSchema(tool: Tool, context: StepContext): JsonSchema {
  return {
    type: 'object',
    properties: {
      id: { type: 'string', pattern: '^s[1-9][0-9]?$', 'x-gbnf': '"\\"s" [1-9] [0-9]? "\\""' },
      tool: { const: tool.name },
      arguments: argumentsSchema(tool, context),
    },
    required: ['id', 'tool', 'arguments'],
    additionalProperties: false,
  };
}

function argumentsSchema(tool: Tool, context: StepContext): JsonSchema {
  const { prefix, options, definitions, paths } = context;
  const { $defs, ...input } = fittedSchemas(tool).input;
  if (isObject($defs)) {
    for (const [name, schema] of Object.entries($defs)) {
      if (isObject(schema)) definitions[`${prefix}_${name}`] = rename(withReferences(schema, paths), prefix);
    }
  }
  const properties = isObject(input.properties) ? input.properties : {};
  const open = Object.entries(properties).map(([name, schema]) => {
    const onlyReference = options.references.has(`${tool.name}.${name}`);
    return [name, onlyReference ? onlyReferences(schema, paths) : orReference(schema, paths)] as const;
  });
  const schema = { ...input, properties: Object.fromEntries(open) };
  return isObject($defs) ? rename(schema, prefix) : schema;
}

type Paths = StepContext['paths'];

/** A list of handles may be one reference to a list, or a list of references. */
function onlyReferences(schema: unknown, paths: Paths): JsonSchema {
  if (!isObject(schema)) return referenceSchema(undefined);
  const whole = referenceSchema(pathsFor(schema, paths));
  if (schema.type !== 'array') return whole;
  const items = referenceSchema(isObject(schema.items) ? pathsFor(schema.items, paths) : undefined);
  return { anyOf: [whole, { type: 'array', minItems: 1, items }] };
}

/** A plain string can hold a reference anyway; for everything else it is a second form, where some field fits. */
function orReference(schema: unknown, paths: Paths): unknown {
  if (!isObject(schema)) return schema;
  const inner = withReferences(schema, paths);
  const isPlainText =
    schema.type === 'string' &&
    !('enum' in schema) &&
    !('format' in schema) &&
    !('pattern' in schema) &&
    !('const' in schema);
  const fitting = pathsFor(schema, paths);
  return isPlainText || fitting?.length === 0 ? inner : { anyOf: [inner, referenceSchema(fitting)] };
}

function withReferences(schema: JsonSchema, paths: Paths): JsonSchema {
  const properties = isObject(schema.properties)
    ? Object.entries(schema.properties).map(([name, value]) => [name, orReference(value, paths)] as const)
    : undefined;
  return {
    ...schema,
    ...(properties ? { properties: Object.fromEntries(properties) } : {}),
    ...(isObject(schema.items) ? { items: orReference(schema.items, paths) } : {}),
  };
}

/** `$ref: #/$defs/node` -> `#/$defs/t2_node`, since the definitions of all tools stand side by side. */
function rename(schema: JsonSchema, prefix: string): JsonSchema {
  const visit = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(visit);
    if (!isObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => [
        key,
        key === '$ref' && typeof inner === 'string' ? inner.replace('#/$defs/', `#/$defs/${prefix}_`) : visit(inner),
      ]),
    );
  };
  const renamed = visit(schema);
  return isObject(renamed) ? renamed : schema;
}

function isObject(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
