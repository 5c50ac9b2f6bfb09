/** The zod schemas of request and answers as the components of an OpenAPI 3.1 document. */
import { z } from 'zod';
import { requestSchema } from '../../core/request.js';
import {
  clarificationSchema,
  planSchema,
  resultSchema,
  selectionSchema,
  selectResultSchema,
  stepSchema,
  traceEventSchema,
  unplannableSchema,
} from '../../core/result.js';
import type { Named, Route } from './agents/route.js';
import { problemSchema } from './problem.js';
import { requestToolsSchema } from './request-planners.js';
import { toolListSchema } from './tool-routes.js';

const REQUESTS = { PlanRequest: requestSchema.extend({ tools: requestToolsSchema.optional() }) };
const ANSWERS = {
  PlanResult: resultSchema,
  Plan: planSchema,
  Clarification: clarificationSchema,
  Unplannable: unplannableSchema,
  Selection: selectionSchema,
  SelectResult: selectResultSchema,
  Step: stepSchema,
  TraceEvent: traceEventSchema,
  ToolList: toolListSchema,
  Problem: problemSchema,
};
export type SchemaName = keyof typeof REQUESTS | keyof typeof ANSWERS;

export function schemaReference(named: SchemaName | Named): { $ref: string } {
  return { $ref: `#/components/schemas/${typeof named === 'string' ? named : named.name}` };
}

export interface MoreSchemas {
  readonly inputs: readonly Named[];
  readonly outputs: readonly Named[];
}

const NONE: MoreSchemas = { inputs: [], outputs: [] };

/** @param more of what is no route */
export function renderSchemas(routes: readonly Route[], more: MoreSchemas = NONE): Record<string, unknown> {
  const bodies = [...routes.flatMap(({ body }) => body ?? []), ...more.inputs];
  const ofRoutes = routes.flatMap(({ answer, streams }) => [answer, ...(streams ? [streams.data] : [])]);
  const answers = [...ofRoutes, ...more.outputs];
  return {
    ...convert({ ...REQUESTS, ...byName(bodies) }, 'input'),
    ...convert({ ...ANSWERS, ...byName(answers) }, 'output'),
  };
}

/** What a query takes, name by name. */
export function renderQuery(schema: z.ZodType): { name: string; required: boolean; schema: unknown }[] {
  const { properties = {}, required = [] } = z.toJSONSchema(schema, { io: 'input' });
  return Object.entries(properties).map(([name, property]) => {
    return { name, required: required.includes(name), schema: property };
  });
}

function byName(named: readonly Named[]): Record<string, z.ZodType> {
  return Object.fromEntries(named.map(({ name, schema }) => [name, schema]));
}

function convert(schemas: Readonly<Record<string, z.ZodType>>, io: 'input' | 'output'): Record<string, unknown> {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(schemas)) registry.add(schema, { id });
  const { schemas: converted } = z.toJSONSchema(registry, { io, uri: (id) => `#/components/schemas/${id}` });
  return Object.fromEntries(
    Object.entries(converted).map(([id, { $schema: _dialect, $id: _id, id: _name, ...schema }]) => [id, schema]),
  );
}
