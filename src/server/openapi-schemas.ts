/** The zod schemas of request and answers as the components of an OpenAPI 3.1 document. */
import { z } from 'zod';
import { requestSchema } from '../request.js';
import {
  clarificationSchema,
  planSchema,
  resultSchema,
  selectionSchema,
  selectResultSchema,
  stepSchema,
  traceEventSchema,
  unplannableSchema,
} from '../result.js';
import { problemSchema } from './problem.js';
import { toolListSchema } from './tool-routes.js';

const REQUESTS = { PlanRequest: requestSchema };
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

export function schemaReference(name: SchemaName): { $ref: string } {
  return { $ref: `#/components/schemas/${name}` };
}

export function renderSchemas(): Record<string, unknown> {
  return { ...convert(REQUESTS, 'input'), ...convert(ANSWERS, 'output') };
}

function convert(schemas: Readonly<Record<string, z.ZodType>>, io: 'input' | 'output'): Record<string, unknown> {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(schemas)) registry.add(schema, { id });
  const { schemas: converted } = z.toJSONSchema(registry, { io, uri: (id) => `#/components/schemas/${id}` });
  return Object.fromEntries(
    Object.entries(converted).map(([id, { $schema: _dialect, $id: _id, id: _name, ...schema }]) => [id, schema]),
  );
}
