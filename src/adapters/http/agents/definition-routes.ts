/** Definitions of tools that wait until somebody has looked. For operators. */
import { z } from 'zod';
import { type Definitions, heldToolSchema } from '../../../agents/definitions.js';
import { requireOperator } from '../caller.js';
import { type Route, route } from './route.js';

const BASE = '/v1/tools/changes';
const acceptSchema = z.strictObject({
  ids: z.array(z.string()).min(1).optional().describe('As the list has them. Default: all that wait, unseen.'),
});

export function definitionRoutes(definitions: Definitions): Route[] {
  return [
    route({
      method: 'GET',
      path: BASE,
      operationId: 'listToolChanges',
      summary: 'New and changed definitions of sources that are not trusted: they wait for a look; for operators',
      answer: { name: 'ToolChanges', schema: z.object({ held: z.array(heldToolSchema) }) },
      async handle({ caller }) {
        requireOperator(caller);
        return { held: [...(await definitions.held())] };
      },
    }),
    route({
      method: 'POST',
      path: `${BASE}/accept`,
      operationId: 'acceptToolChanges',
      summary: 'Take definitions that were looked at; for operators',
      needsProof: true,
      body: { name: 'AcceptRequest', schema: acceptSchema },
      answer: { name: 'AcceptedTools', schema: z.object({ accepted: z.array(z.string()) }) },
      async handle({ body, caller }) {
        requireOperator(caller);
        return { accepted: await definitions.accept(body.ids, caller?.user ?? 'operator') };
      },
    }),
  ];
}
