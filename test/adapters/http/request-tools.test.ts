/** `POST /v1/plan` and `/v1/select` with tools that the request brings along. */
import { describe, expect, it } from '@jest/globals';
import { problemSchema } from '../../../src/adapters/http/problem.js';
import { createPolicy } from '../../../src/agents/policy/policy.js';
import { fixedPolicy } from '../../../src/agents/policy/policy-file.js';
import type { Catalog } from '../../../src/core/catalog/catalog.js';
import { createScriptedModel } from '../../support/scripted-model.js';
import { startAgentServer } from './agents/setup.js';
import { answeringPlanner, plannerOf, post, startServer } from './setup.js';

const ORDER = {
  name: 'order_tea',
  description: 'Orders tea.',
  inputSchema: { type: 'object', properties: { cups: {} } },
};
const FUNCTION = {
  type: 'function',
  function: { name: 'pour', description: 'Pours.', parameters: { type: 'object' } },
};
const ASKED = { message: 'Order two cups of tea' };
const SELECTION = '{"selected_tools": ["order_tea"], "reason": "it orders"}';
const PLAN = '{"kind": "plan", "steps": [{"id": "s1", "tool": "order_tea", "arguments": {"cups": 2}}]}';

function planning() {
  const model = createScriptedModel({ answers: ({ stage }) => (stage === 'selection' ? SELECTION : PLAN) });
  const made: Catalog[] = [];
  const of = (catalog: Catalog) => {
    made.push(catalog);
    return plannerOf(model, catalog.tools);
  };
  return { model, made, of };
}

describe('tools of the request', () => {
  it('are planned with in place of those of the server, in either form', async () => {
    const { of, model } = planning();
    const { url } = await startServer({ planner: answeringPlanner(), plannerOf: of });
    const answer = await (await post(`${url}/v1/plan`, { ...ASKED, tools: [ORDER, FUNCTION] })).json();
    expect(answer).toMatchObject({ kind: 'plan', steps: [{ tool: 'order_tea', arguments: { cups: 2 } }] });
    const seen = model.calls.map(({ prompt }) => `${prompt.system}${prompt.user}`).join();
    expect(seen).toContain('pour');
    expect(seen).not.toContain('read_level');
    const selected = await (await post(`${url}/v1/select`, { ...ASKED, tools: [ORDER] })).json();
    expect(selected).toMatchObject({ tools: [{ name: 'order_tea' }] });
  });

  it('have one planner as long as they are the same', async () => {
    const { of, made } = planning();
    const { url } = await startServer({ planner: answeringPlanner(), plannerOf: of });
    for (const tools of [[ORDER], [ORDER], [ORDER, FUNCTION]]) await post(`${url}/v1/select`, { ...ASKED, tools });
    expect(made.map(({ tools }) => tools.length)).toEqual([1, 2]);
  });

  it('obey the policy of the server', async () => {
    const { of } = planning();
    const policy = { rules: [{ name: 'no tea', match: { tool: 'order_tea' }, decision: 'deny' as const }] };
    const { ask } = await startAgentServer({ plannerOf: of, more: { policy: fixedPolicy(createPolicy(policy)) } });
    const { body } = await ask('POST /v1/select', { ...ASKED, tools: [ORDER, FUNCTION] });
    expect(body.tools.map(({ name }: { name: string }) => name)).not.toContain('order_tea');
  });

  it.each<[string, unknown, string]>([
    ['are none', [], 'tools'],
    ['are no list', { name: 'x' }, 'tools'],
    ['have no name', [{ description: 'x' }], 'tools[0]: name'],
    ['have a slip in a key', [{ name: 'order_tea', descripton: 'x' }], 'tools[0] order_tea: descripton'],
    ['have one name twice', [ORDER, ORDER], 'order_tea'],
    ['unfold without end', [{ ...ORDER, inputSchema: bomb() }], 'order_tea'],
  ])('that %s are refused with their place', async (_, tools, place) => {
    const { of } = planning();
    const { url } = await startServer({ planner: answeringPlanner(), plannerOf: of });
    const response = await post(`${url}/v1/plan`, { ...ASKED, tools });
    const { code, detail } = problemSchema.parse(await response.json());
    expect([response.status, code, detail]).toEqual([400, 'invalid_request', expect.stringContaining(place)]);
  });

  it('are refused where the server plans with its own alone', async () => {
    const { url } = await startServer({ planner: answeringPlanner() });
    const response = await post(`${url}/v1/plan`, { ...ASKED, tools: [ORDER] });
    expect([response.status, problemSchema.parse(await response.json()).detail]).toEqual([
      400,
      expect.stringContaining('its own tools only'),
    ]);
  });
});

function bomb(): object {
  const levels = Array.from({ length: 26 }, (_, at) => [
    `l${at}`,
    { anyOf: [1, 2].map(() => ({ $ref: `#/$defs/l${at + 1}` })) },
  ]);
  return { type: 'object', $ref: '#/$defs/l0', $defs: { ...Object.fromEntries(levels), l26: { type: 'string' } } };
}
