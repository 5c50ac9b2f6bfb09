/** A user's own tools over HTTP. With a gateway they are always the caller's; even operators can't use another's. */
import { z } from 'zod';
import type { Agents } from '../../../agents/agents.js';
import { privateEntrySchema } from '../../../agents/private-tools.js';
import type { Tool } from '../../../core/catalog/tool.js';
import { listedToolSchema } from '../tool-routes.js';
import { ofUserSchema, ownerOf } from './owner.js';
import { type Route, route } from './route.js';

const BASE = '/v1/private-tools';
const addSchema = ofUserSchema.extend({ tool: privateEntrySchema });
const toolSchema = listedToolSchema.extend({
  keywords: z.array(z.string()),
  aliases: z.array(z.string()),
  examples: z.array(z.string()),
  instructions: z.string().optional(),
  origin: z.string(),
});
const addedSchema = toolSchema.extend({
  notes: z.array(z.string()).describe('Parts of the entry without effect: misspelt keys.'),
});

export function privateToolRoutes({ privateTools }: Pick<Agents, 'privateTools'>): Route[] {
  return [
    route({
      method: 'GET',
      path: BASE,
      operationId: 'listPrivateTools',
      summary: 'Your own tools',
      query: ofUserSchema,
      answer: { name: 'PrivateToolList', schema: z.object({ tools: z.array(toolSchema).describe('By name.') }) },
      handle: ({ query, caller }) => ({ tools: privateTools.list(ownerOf(caller, query.user)).map(toView) }),
    }),
    route({
      method: 'POST',
      path: BASE,
      operationId: 'addPrivateTool',
      summary: 'Add a tool that only you see, or replace your own one of that name',
      description:
        'Only you can find, list and plan with it, under its name behind `my__`. Its own scope and origin are ignored, and a ' +
        'tool that would call a server is refused. It can be ' +
        'called if it is a skill with instructions: functions, servers and secrets of the system run no private tool.',
      body: { name: 'PrivateToolRequest', schema: addSchema },
      answer: { name: 'PrivateTool', schema: addedSchema },
      status: 201,
      async handle({ body, caller }) {
        const { tool, notes } = await privateTools.add(ownerOf(caller, body.user), body.tool);
        return { ...toView(tool), notes };
      },
    }),
    route({
      method: 'DELETE',
      path: `${BASE}/:id`,
      operationId: 'removePrivateTool',
      summary: 'Remove a tool of your own, by its name',
      query: ofUserSchema,
      answer: { name: 'RemovedPrivateTool', schema: z.object({ removed: z.string() }) },
      async handle({ id, query, caller }) {
        await privateTools.remove(ownerOf(caller, query.user), id);
        return { removed: id };
      },
    }),
  ];
}

/** Only the fields of the schema: `metadata` may hold anything. */
function toView(tool: Tool): z.infer<typeof toolSchema> {
  return toolSchema.parse(tool);
}
