/** A router over a small catalogue, with a clock that stands still until it is moved. */

import type { CallResult } from '../../src/agents/contracts.js';
import type { ExecuteRequest, RouterParts, SessionContext } from '../../src/agents/parts.js';
import { createPolicy, type PolicyInput } from '../../src/agents/policy/policy.js';
import { fixedPolicy, type PolicySource } from '../../src/agents/policy/policy-file.js';
import type { TelemetryEvent } from '../../src/agents/records.js';
import { createRouter, type Router } from '../../src/agents/router.js';
import { openStore } from '../../src/agents/store/open-store.js';
import type { Store } from '../../src/agents/store/sql/sql-store.js';
import { createCatalog } from '../../src/core/catalog/catalog.js';
import type { Tool } from '../../src/core/catalog/tool.js';
import { validatorFor } from '../../src/core/catalog/validate.js';
import { createTool } from '../support/create-tool.js';

const uri = { properties: { uri: { type: 'string' } }, required: ['uri'] };

export const TOOLS: readonly Tool[] = [
  createTool('ask_user', {}, undefined, { risk: 'low', alwaysLoad: true }),
  createTool('file_read', { properties: { path: { type: 'string' } }, required: ['path'] }, undefined, {
    risk: 'low',
    relatedTools: ['file_list', 'missing'],
  }),
  createTool('file_list', {}, undefined, { risk: 'low', relatedTools: ['file_read'] }),
  createTool('lsp_open', { properties: { path: { type: 'string' } } }, undefined, { risk: 'low' }),
  createTool('lsp_hover', uri, undefined, {
    risk: 'low',
    preconditions: ['lsp_open called for the same uri in this session'],
  }),
  createTool(
    'deploy',
    { properties: { to: { type: 'string' }, dry: { type: 'boolean' }, token: { type: 'string', 'x-secret': true } } },
    undefined,
    { risk: 'high', category: 'operations' },
  ),
  createTool('code_run', { properties: { mode: { enum: ['read', 'project_cmd'] } } }, undefined, { risk: 'medium' }),
  createTool('broken', {}, undefined, { risk: 'low', available: false }),
  createTool('mail', {}, undefined, { risk: 'low', scope: { user: 'ann' } }),
  createTool('diary', {}, undefined, { risk: 'low', scope: { user: 'bob' } }),
];

export interface Setup {
  router: Router;
  store: Store;
  /** What was run, in order. */
  readonly runs: ExecuteRequest[];
  readonly events: TelemetryEvent[];
  readonly searched: SessionContext[];
  /** Moves the clock. */
  pass(milliseconds: number): void;
  setPolicy(policy: PolicyInput): void;
}

export interface SetupOptions extends Partial<Omit<RouterParts, 'policy' | 'store'>> {
  policy?: PolicyInput | PolicySource;
  store?: Store;
  tools?: readonly Tool[];
}

export async function setUp(options: SetupOptions = {}): Promise<Setup> {
  const { policy = {}, store = await openStore(), tools = TOOLS, ...parts } = options;
  const state = {
    time: Date.UTC(2026, 0, 1, 12),
    policy: 'current' in policy ? policy : fixedPolicy(createPolicy(policy)),
  };
  const catalog = createCatalog(tools);
  const runs: ExecuteRequest[] = [];
  const events: TelemetryEvent[] = [];
  const searched: SessionContext[] = [];
  const router = createRouter({
    store,
    catalog: () => catalog,
    policy: { current: () => state.policy.current(), reload: () => state.policy.reload() },
    clock: () => new Date(state.time),
    onEvent: (event) => events.push(event),
    prepare: prepareStrictly,
    async search(request, context) {
      searched.push(context);
      const matches = context.view.tools.filter(context.isAllowed).map((tool) => ({
        name: tool.name,
        toolType: tool.toolType,
        risk: tool.risk,
        description: '',
        signature: 'object',
        enabled: context.isEnabled(tool),
        score: 1,
        why_matched: [],
      }));
      return { query: request.query, matches, ranked_by: 'rules' };
    },
    async execute(request): Promise<CallResult> {
      runs.push(request);
      return { ok: true, output: { done: true, uri: 'file:///a' }, notes: [], milliseconds: 1 };
    },
    ...parts,
  });
  return {
    router,
    store,
    runs,
    events,
    searched,
    pass(milliseconds) {
      state.time += milliseconds;
    },
    setPolicy(input) {
      state.policy = fixedPolicy(createPolicy(input));
    },
  };
}

export const prepareStrictly: RouterParts['prepare'] = (tool, given, open) => {
  const checked = validatorFor(tool)(given, open);
  const next = 'Mend the arguments.';
  if (!checked.ok) return { ok: false, code: 'invalid_arguments', reason: 'wrong', next, issues: checked.issues };
  return { ok: true, arguments: { ...Object(given) }, notes: [] };
};
