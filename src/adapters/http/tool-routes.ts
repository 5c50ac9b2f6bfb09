/** `GET /v1/tools`: the caller's view of the catalogue. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { RUNNERS, runnerOf } from '../../agents/sandbox/executors/executor.js';
import type { View } from '../../core/catalog/scope.js';
import { RISKS, TOOL_TYPES, type Tool } from '../../core/catalog/tool.js';
import { parseAs } from '../../core/parse.js';
import type { Planner } from '../../core/planner.js';
import { withCaller } from './caller.js';
import type { Conceal } from './conceal.js';

/** Not all of a tool: `relatedTools` and `metadata` may name what this caller does not see. */
export const listedToolSchema = z.object({
  name: z.string(),
  title: z.string().optional(),
  description: z.string(),
  category: z.string().optional(),
  toolType: z.enum(TOOL_TYPES),
  risk: z.enum(RISKS),
  origin: z.string().describe('Its name in the field `origin` of a request.'),
  inputSchema: z.record(z.string(), z.unknown()),
  outputSchema: z.record(z.string(), z.unknown()).optional(),
});
const toolListSchema = z.object({
  fingerprint: z.string().describe('Changes when anything that a model sees of these tools does.'),
  tools: z.array(
    listedToolSchema.extend({ runner: z.enum(RUNNERS).optional().describe('What may run it; absent: nothing does.') }),
  ),
});
export type ToolList = z.infer<typeof toolListSchema>;

const querySchema = z.strictObject({
  user: z.string().min(1).optional().describe('Also the private tools of this user.'),
});
const operation = {
  operationId: 'listTools',
  summary: 'The tools that the caller sees',
  query: querySchema,
  answer: { name: 'ToolList', schema: toolListSchema },
  takesRoles: false,
};

export function addToolRoutes(app: FastifyInstance, planner: Pick<Planner, 'view'>, conceal: Conceal): void {
  app.get('/v1/tools', { config: { operation } }, async ({ query, identity: { caller } }) => {
    const asked = parseQuery(withCaller(query, caller));
    return listTools(planner.view(conceal(asked, caller)));
  });
}

function parseQuery(query: unknown): z.infer<typeof querySchema> {
  return parseAs(querySchema, query, { code: 'invalid_request', problem: 'The query is not usable', within: 'query' });
}

function listTools({ fingerprint, tools }: View): ToolList {
  return { fingerprint, tools: tools.map(listTool) };
}

function listTool(tool: Tool): ToolList['tools'][number] {
  const { name, title, description, category, toolType, risk, origin, inputSchema, outputSchema } = tool;
  return {
    name,
    title,
    description,
    category,
    toolType,
    risk,
    origin,
    inputSchema,
    outputSchema,
    runner: runnerOf(tool),
  };
}
