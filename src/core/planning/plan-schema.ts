/**
 * The schema under which a plan is decoded: each step's `tool` a constant with its own arguments, so that a step with
 * a wrong argument name can't be written where the server decodes under schemas.
 */
import { isObject } from '../catalog/schema/json.js';
import type { JsonSchema, Tool } from '../catalog/tool.js';
import type { AwaitedArgument } from './awaited.js';
import type { Misreference } from './check-plan.js';
import { fittedSchemas } from './fitted.js';
import type { ArgumentName } from './open-place.js';
import { type ProducedPath, pathsFor, producedPaths } from './produced-paths.js';
import { referenceSchema } from './references.js';

export interface PlanSchemaOptions {
  /** The request can't hold these values: only a reference may stand there. */
  awaited: readonly AwaitedArgument[];
  /** Whether one more round of selection is possible. */
  canNeedTools: boolean;
  /** Whether the schema may say what stands at which place of a list: then no step can refer to a later one. */
  tuples?: boolean;
  /** How many things of one kind the request lists: each may take a step. Default: 0. */
  things?: number;
  /** Only one of these texts may stand there, or a reference. */
  choices?: readonly Choice[];
  /** Only fields of that producer may be referred to there; where none fits, none. */
  misreferences?: readonly Misreference[];
  /** An optional argument that can't be written this time. */
  without?: ArgumentName | undefined;
}

export interface Choice extends ArgumentName {
  readonly among: readonly string[];
}

const text = { type: 'string' } as const;
const ORDER = {
  type: 'array',
  items: text,
  description: 'Ids of earlier steps that must be done first, where no reference says so.',
} as const;

export function planAnswerSchema(tools: readonly Tool[], options: PlanSchemaOptions): JsonSchema {
  const definitions: Record<string, JsonSchema> = {};
  const paths = producedPaths(tools);
  const stepsAfter = (earlier: number | undefined) =>
    tools.flatMap((tool, place) => stepSchema(tool, { prefix: `t${place + 1}`, options, definitions, paths, earlier }));
  const steps = stepsAfter(undefined);
  const answers = [
    ...(steps.length > 0
      ? [
          answer('plan', {
            steps: options.tuples
              ? orderedSteps(stepsAfter, options.things)
              : { type: 'array', minItems: 1, items: oneOf(steps) },
          }),
        ]
      : []),
    answer('clarification', { question: text, missing: { type: 'array', items: text } }),
    ...(options.canNeedTools ? [answer('needTools', { needTools: text })] : []),
    answer('unplannable', { reason: text }),
  ];
  return { anyOf: answers, ...(Object.keys(definitions).length > 0 ? { $defs: definitions } : {}) };
}

/** Places that are told apart; behind them any step may refer to any. */
const PLACES = 4;
/** A small model that has lost the thread writes steps without end. */
const MAX_STEPS = 8;
/** What may stand beside one step for each of several things. */
const FURTHER_STEPS = 2;

/** At its place a step refers only to those before it; what needs an earlier result can't come first. */
function orderedSteps(stepsAfter: (earlier: number | undefined) => JsonSchema[], things = 0): JsonSchema {
  const places = Array.from({ length: PLACES }, (_, earlier) => stepsAfter(earlier));
  const unordered = stepsAfter(undefined);
  return {
    type: 'array',
    minItems: 1,
    prefixItems: places.map((steps) => oneOf(steps.length > 0 ? steps : unordered)),
    items: oneOf(unordered),
    maxItems: Math.max(MAX_STEPS, things + FURTHER_STEPS),
  };
}

function oneOf(steps: readonly JsonSchema[]): JsonSchema {
  const [only] = steps;
  return only && steps.length === 1 ? only : { anyOf: steps };
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
  /** How many steps stand before; `undefined`: not known, any may be referred to. */
  earlier: number | undefined;
}

/** None where the tool can't stand at this place. */
function stepSchema(tool: Tool, context: StepContext): JsonSchema[] {
  const { earlier, options } = context;
  const waits = options.awaited.some((one) => one.tool === tool.name);
  if (earlier === 0 && waits) return [];
  const id = { type: 'string', pattern: '^s[1-9][0-9]?$' };
  return [
    {
      type: 'object',
      properties: {
        id: earlier === undefined ? id : { const: `s${earlier + 1}` },
        tool: { const: tool.name },
        arguments: argumentsSchema(tool, context),
        // A small model under a grammar writes it without need.
        ...(options.tuples ? {} : { dependsOn: ORDER }),
      },
      required: ['id', 'tool', 'arguments'],
      additionalProperties: false,
    },
  ];
}

function argumentsSchema(tool: Tool, context: StepContext): JsonSchema {
  const { prefix, options, definitions } = context;
  const { $defs, ...input } = fittedSchemas(tool).input;
  if (isObject($defs)) {
    for (const [name, schema] of Object.entries($defs)) {
      if (isObject(schema))
        definitions[`${prefix}_${name}`] = prefixDefinitions(
          withReferences(schema, { ...context, earlier: undefined }),
          prefix,
        );
    }
  }
  const required = new Set(Array.isArray(input.required) ? input.required : []);
  const properties = Object.entries(isObject(input.properties) ? input.properties : {});
  // As the prompt shows them; a grammar keeps the order, and what was passed over can't be written any more.
  const ordered = properties.sort(([one], [other]) => Number(required.has(other)) - Number(required.has(one)));
  const wanted = ordered.filter(([name]) => options.without?.tool !== tool.name || options.without.argument !== name);
  const open = wanted.map(([name, schema]) => {
    const isHere = (one: ArgumentName) => one.tool === tool.name && one.argument === name;
    const among = options.choices?.find(isHere)?.among;
    const chosen = among ? { type: 'string', enum: among } : schema;
    const referred = options.misreferences?.filter(isHere).map(({ producer }) => producer) ?? [];
    if (options.awaited.some(isHere)) return [name, onlyReferences(schema, context)] as const;
    if (referred.length === 0) return [name, orReference(chosen, context)] as const;
    const sight = { ...context, paths: producedPaths(referred) };
    return [name, orReference(withoutReferences(chosen), sight)] as const;
  });
  const schema = { ...input, properties: Object.fromEntries(open) };
  return isObject($defs) ? prefixDefinitions(schema, prefix) : schema;
}

/** What a reference may name here. */
type Sight = Pick<StepContext, 'paths' | 'earlier'>;

/** A list of handles may be one reference to a list, or a list of references. */
function onlyReferences(schema: unknown, { paths, earlier }: Sight): JsonSchema {
  if (!isObject(schema)) return referenceSchema(undefined, earlier);
  const whole = referenceSchema(pathsFor(schema, paths), earlier);
  if (schema.type !== 'array') return whole;
  const items = referenceSchema(isObject(schema.items) ? pathsFor(schema.items, paths) : undefined, earlier);
  return { anyOf: [whole, { type: 'array', minItems: 1, items }] };
}

/** A plain string can hold a reference anyway; for everything else it is a second form, where some field fits. */
function orReference(schema: unknown, sight: Sight): unknown {
  if (!isObject(schema)) return schema;
  const inner = withReferences(schema, sight);
  const fitting = pathsFor(schema, sight.paths);
  const isAlone = isPlainText(schema) || fitting?.length === 0 || sight.earlier === 0;
  return isAlone ? inner : { anyOf: [inner, referenceSchema(fitting, sight.earlier)] };
}

function isPlainText(schema: JsonSchema): boolean {
  return schema.type === 'string' && !['enum', 'format', 'pattern', 'const'].some((key) => key in schema);
}

/** A plain string could hold one. */
function withoutReferences(schema: unknown): unknown {
  return isObject(schema) && isPlainText(schema) ? { ...schema, pattern: '^([^$]|[$]+[^${])*[$]*$' } : schema;
}

function withReferences(schema: JsonSchema, sight: Sight): JsonSchema {
  const properties = isObject(schema.properties)
    ? Object.entries(schema.properties).map(([name, value]) => [name, orReference(value, sight)] as const)
    : undefined;
  return {
    ...schema,
    ...(properties ? { properties: Object.fromEntries(properties) } : {}),
    ...(isObject(schema.items) ? { items: orReference(schema.items, sight) } : {}),
  };
}

/** `$ref: #/$defs/node` -> `#/$defs/t2_node`, since the definitions of all tools stand side by side. */
export function prefixDefinitions(schema: JsonSchema, prefix: string): JsonSchema {
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
