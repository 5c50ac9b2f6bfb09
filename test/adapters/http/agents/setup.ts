/** A server for agents on a free port, over tools whose runs are written down. */

import type { ServerParts } from '../../../../src/adapters/http/app.js';
import { createAuthenticate } from '../../../../src/adapters/http/auth/authenticate.js';
import { type AgentsParts, createAgents } from '../../../../src/agents/agents.js';
import { createPolicy, type PolicyInput } from '../../../../src/agents/policy/policy.js';
import { fixedPolicy } from '../../../../src/agents/policy/policy-file.js';
import { createFunctionExecutor } from '../../../../src/agents/sandbox/executors/functions.js';
import { openStore, type StorePlace } from '../../../../src/agents/store/open-store.js';
import { createMetrics } from '../../../../src/agents/telemetry/metrics.js';
import { createCatalog } from '../../../../src/core/catalog/catalog.js';
import type { Tool } from '../../../../src/core/catalog/tool.js';
import type { CompletionRequest } from '../../../../src/core/model/model.js';
import type { Planner } from '../../../../src/core/planner.js';
import { createTool } from '../../../support/create-tool.js';
import { createScriptedModel } from '../../../support/scripted-model.js';
import { answeringPlanner, plannerOf, startServer } from '../setup.js';

const path = { properties: { path: { type: 'string' } }, required: ['path'] };

export const TOOLS: readonly Tool[] = [
  createTool('file_read', path, undefined, { risk: 'low', description: 'Reads the content of a file.' }),
  createTool('file_delete', path, undefined, { risk: 'high', description: 'Deletes a file for ever.' }),
  createTool('file_list', {}, undefined, { risk: 'low', description: 'Lists the files of a folder.' }),
  createTool('diary', {}, undefined, { risk: 'low', description: 'The diary of Bob.', scope: { user: 'bob' } }),
];

const ANSWERS = {
  selection: '{"selected_tools": ["file_read"], "reason": "it reads"}',
  planning: '{"kind": "plan", "steps": [{"id": "s1", "tool": "file_read", "arguments": {"path": "a"}}]}',
};

/** Over the same tools; whatever is asked, it reads a file. @param first what the model throws at its first call */
export function readingPlanner(first?: Error): Planner {
  const answers = ({ stage }: CompletionRequest, index: number) => (index === 0 && first) || ANSWERS[stage];
  return plannerOf(createScriptedModel({ answers }), TOOLS);
}

export interface AgentServerOptions extends Partial<Omit<ServerParts, 'agents'>> {
  place?: StorePlace;
  policy?: PolicyInput;
  /** Parts of the agents that are other than usual. */
  more?: Partial<AgentsParts>;
}

export async function startAgentServer(options: AgentServerOptions = {}) {
  const { place, policy = {}, more = {}, ...parts } = options;
  const catalog = createCatalog(TOOLS);
  const runs: string[] = [];
  const run = (name: string, output: unknown) => (input: Readonly<Record<string, unknown>>) => {
    runs.push(`${name} ${String(input.path ?? '')}`.trim());
    return output;
  };
  const planner = parts.planner ?? answeringPlanner();
  const agents = createAgents({
    store: await openStore(place),
    catalog: () => catalog,
    policy: fixedPolicy(createPolicy(policy)),
    planner,
    createMetrics,
    executors: [
      createFunctionExecutor({
        file_read: run('file_read', { text: 'hello' }),
        file_delete: run('file_delete', { gone: true }),
        file_list: run('file_list', { path: 'a.txt' }),
      }),
    ],
    ...more,
  });
  await agents.index.settled();
  const authenticate = createAuthenticate({ operatorToken: OPERATOR_TOKEN });
  const { app, url } = await startServer({ authenticate, ...parts, planner, agents });
  return { app, url, runs, agents, ask: askerOf(url) };
}

export interface Reply {
  readonly status: number;
  // The tests look into answers of many forms; what is not there is undefined, and no expectation holds on it.
  readonly body: ReturnType<typeof JSON.parse>;
}

export type Ask = (line: string, body?: unknown, who?: { user?: string; roles?: string }) => Promise<Reply>;

export const OPERATOR_TOKEN = 'the-token-of-the-operator';

/** `ask('POST /v1/sessions', {…}, {user: 'ann'})`: as the operator, who speaks for a user where one is named. */
function askerOf(url: string): Ask {
  return async (line, body, { user, roles } = {}) => {
    const [method = '', path = ''] = line.split(' ');
    const response = await fetch(`${url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${OPERATOR_TOKEN}`,
        'content-type': 'application/json',
        ...(user === undefined ? {} : { 'x-winnow-user': user }),
        ...(roles === undefined ? {} : { 'x-winnow-roles': roles }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: await response.json() };
  };
}
