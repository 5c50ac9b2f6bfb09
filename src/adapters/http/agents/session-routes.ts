/** Sessions over HTTP: what an agent asks, turn by turn. A refusal is an answer for the agent, so its status is 200. */
import { z } from 'zod';
import { previewInputSchema, previewSchema } from '../../../agents/calls/preview.js';
import {
  type Caller,
  callInputSchema,
  callResultSchema,
  createSessionInputSchema,
  disableInputSchema,
  disableOutputSchema,
  enableInputSchema,
  enableOutputSchema,
  listInputSchema,
  listOutputSchema,
  searchInputSchema,
  searchOutputSchema,
  sessionViewSchema,
} from '../../../agents/contracts.js';
import { pageSchema } from '../../../agents/records.js';
import type { Router } from '../../../agents/router.js';
import { isFields, visibleQuery } from '../caller.js';
import { type Route, route } from './route.js';

const SESSION = { name: 'Session', schema: sessionViewSchema };
const BASE = '/v1/sessions';
const listSchema = z.object({ sessions: z.array(sessionViewSchema).describe('Newest first.') });

export function sessionRoutes(router: Router): Route[] {
  return [
    route({
      method: 'POST',
      path: BASE,
      operationId: 'createSession',
      summary: 'Open a session for an agent',
      description: 'User and roles of the caller win over those of the body, which count for the operator only.',
      body: { name: 'SessionRequest', schema: createSessionInputSchema },
      withCaller: withOwner,
      answer: SESSION,
      status: 201,
      handle: ({ body }) => router.createSession(body),
    }),
    route({
      method: 'GET',
      path: BASE,
      operationId: 'listSessions',
      summary: 'Sessions: of all users for operators, else your own',
      query: pageSchema.pick({ user: true, limit: true }),
      answer: { name: 'SessionList', schema: listSchema },
      async handle({ query, caller }) {
        const visible = visibleQuery(query, caller);
        return { sessions: visible ? await router.sessions(visible) : [] };
      },
    }),
    route({
      method: 'GET',
      path: `${BASE}/:id`,
      operationId: 'getSession',
      summary: 'A session: its turn, and which tools are enabled for how many turns',
      answer: SESSION,
      handle: ({ id, ...ask }) => router.session(id, ask),
    }),
    route({
      method: 'DELETE',
      path: `${BASE}/:id`,
      operationId: 'endSession',
      summary: 'End the session and disable its tools',
      answer: SESSION,
      handle: ({ id, ...ask }) => router.endSession(id, ask),
    }),
    route({
      method: 'POST',
      path: `${BASE}/:id/turns`,
      operationId: 'beginTurn',
      summary: 'Begin the next turn and disable tools whose turns are over',
      answer: SESSION,
      handle: ({ id, ...ask }) => router.beginTurn(id, ask),
    }),
    ...agentRoutes(router),
  ];
}

function agentRoutes(router: Router): Route[] {
  return [
    route({
      method: 'POST',
      path: `${BASE}/:id/search`,
      operationId: 'searchTools',
      summary: 'tool_search: find tools by what they do',
      takesPlace: true,
      body: { name: 'SearchRequest', schema: searchInputSchema },
      answer: { name: 'SearchResult', schema: searchOutputSchema },
      handle: ({ id, body, ...ask }) => router.search(id, body, ask),
    }),
    route({
      method: 'POST',
      path: `${BASE}/:id/enable`,
      operationId: 'enableTools',
      summary: 'tool_enable: make tools callable for some turns',
      body: { name: 'EnableRequest', schema: enableInputSchema },
      answer: { name: 'EnableResult', schema: enableOutputSchema },
      handle: ({ id, body, ...ask }) => router.enable(id, body, ask),
    }),
    route({
      method: 'POST',
      path: `${BASE}/:id/disable`,
      operationId: 'disableTools',
      summary: 'tool_disable: disable tools',
      body: { name: 'DisableRequest', schema: disableInputSchema },
      answer: { name: 'DisableResult', schema: disableOutputSchema },
      handle: ({ id, body, ...ask }) => router.disable(id, body, ask),
    }),
    route({
      method: 'GET',
      path: `${BASE}/:id/tools`,
      operationId: 'handOutTools',
      summary: 'Tools with their schemas: those enabled, all, or the best for a query',
      query: listInputSchema,
      answer: { name: 'HandOut', schema: listOutputSchema },
      handle: ({ id, query, ...ask }) => router.list(id, query, ask),
    }),
    route({
      method: 'POST',
      path: `${BASE}/:id/call`,
      operationId: 'callTool',
      summary: 'Call a tool, if the policy allows it',
      description: 'A refused call or a failing tool gets `ok: false`, a code, the reason, and what to do next.',
      body: { name: 'CallRequest', schema: callInputSchema },
      answer: { name: 'CallResult', schema: callResultSchema },
      handle: ({ id, body, ...ask }) => router.call(id, body, ask),
    }),
    route({
      method: 'POST',
      path: `${BASE}/:id/preview`,
      operationId: 'previewCall',
      summary: 'A dry run of a call: the arguments as they would run, and whether it needs an approval, or the refusal',
      description:
        'Runs, requests and writes nothing. Enabling, earlier calls and hours are not checked: they may change.',
      body: { name: 'PreviewRequest', schema: previewInputSchema },
      answer: { name: 'CallPreview', schema: previewSchema },
      handle: ({ id, body, ...ask }) => router.preview(id, body, ask),
    }),
  ];
}

/** The operator's own program may open a session for any user. */
function withOwner(body: unknown, caller: Caller | undefined): unknown {
  return caller && isFields(body) ? { ...body, user: caller.user, roles: caller.roles } : body;
}
