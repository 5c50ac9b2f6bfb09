/** The planner as tools of MCP: what it may see, what the client hears, and what a failure tells. */
import { describe, expect, it } from 'vitest';
import type { McpParts } from '../../../src/adapters/mcp/answering.js';
import { createCatalog } from '../../../src/core/catalog/catalog.js';
import { WinnowError } from '../../../src/core/errors.js';
import type { Model } from '../../../src/core/model/model.js';
import { createPlanner } from '../../../src/core/planner.js';
import { createScriptedModel } from '../../support/scripted-model.js';
import { createHangingModel } from '../http/setup.js';
import { connect, createWorld, TOOLS } from './setup.js';

const ASKED = { message: 'Read the file a.txt' };
const SELECTION = '{"selected_tools": ["file_read"], "reason": "it reads"}';
const PLAN = '{"kind": "plan", "steps": [{"id": "s1", "tool": "file_read", "arguments": {"path": "a"}}]}';

/** The planner knows of no policy: what it may not see must be kept from it. */
function plannerOf(model: Model) {
  const options = { passthroughTools: 0, fillTokens: 0 };
  return createPlanner({ catalog: createCatalog(TOOLS), model, options });
}

async function connectTo(planner: McpParts['planner']) {
  const world = await createWorld({ planner });
  const connected = await connect(world);
  // The client then checks every answer against the schema that was listed.
  await connected.names();
  return { ...world, ...connected };
}

const answering = () => createScriptedModel({ answers: ({ stage }) => (stage === 'selection' ? SELECTION : PLAN) });

describe('plan', () => {
  it('answers with checked steps, without what only a log wants', async () => {
    const { call, ask } = await connectTo(plannerOf(answering()));
    const plan = await ask('plan', ASKED);
    expect(plan).toMatchObject({
      kind: 'plan',
      steps: [{ id: 's1', tool: 'file_read', arguments: { path: 'a' } }],
      selection: { mode: 'selected', tools: [{ name: 'file_read' }, { name: 'ask_user' }] },
    });
    expect(Object.keys(plan).sort()).toEqual(['goal', 'kind', 'levels', 'selection', 'steps', 'unserved']);
    const { content } = await call('plan', ASKED);
    expect(content).toEqual([{ type: 'text', text: JSON.stringify(plan) }]);
  });

  it('tells its stages where the client asks for progress, and not where it does not', async () => {
    const { client } = await connectTo(plannerOf(answering()));
    const told: { progress: number; message?: string | undefined }[] = [];
    const params = { name: 'plan', arguments: ASKED };
    await client.callTool(params, undefined, { onprogress: (progress) => told.push(progress) });
    expect(told.map(({ progress }) => progress)).toEqual(told.map((_, index) => index + 1));
    const messages = told.map(({ message }) => message);
    expect(messages[0]).toMatch(/^scope: \d+ tools are visible$/u);
    expect(messages.join('\n')).toContain('planning: ');
    const before = told.length;
    await client.callTool(params);
    expect(told).toHaveLength(before);
  });

  it('sees the tools that the session may find, whatever the planner knows and the model asks for', async () => {
    const model = answering();
    const { ask } = await connectTo(plannerOf(model));
    await ask('plan', { ...ASKED, require: ['secret_door', 'diary'] });
    await ask('plan', ASKED);
    const prompts = model.calls.map(({ prompt }) => `${prompt.system} ${prompt.user}`).join('\n');
    expect(prompts).toContain('mail');
    expect(prompts).not.toMatch(/secret_door|diary/u);
  });

  it.each([
    ['a user', { user: 'bob' }],
    ['a session', { session: 'x' }],
    ['a list of what may be seen', { allow: ['diary'] }],
  ])('does not take %s from a model', async (_, more) => {
    const { ask } = await connectTo(plannerOf(answering()));
    expect(await ask('plan', { ...ASKED, ...more })).toMatchObject({
      code: 'invalid_request',
      issues: [expect.stringContaining(Object.keys(more)[0] ?? '')],
    });
  });

  it('is cancelled where it asks the model', async () => {
    const { model, asked, cancelled } = createHangingModel();
    const { client } = await connectTo(plannerOf(model));
    const cancel = new AbortController();
    const answer = client.callTool({ name: 'plan', arguments: ASKED }, undefined, { signal: cancel.signal });
    await asked;
    cancel.abort('enough');
    await expect(answer).rejects.toThrow('enough');
    expect(await cancelled).toBe('cancelled');
  });

  it('in a session that has ended is refused', async () => {
    const { ask, agents } = await connectTo(plannerOf(answering()));
    const [session] = await agents.router.sessions();
    await agents.router.endSession(session?.id ?? '');
    expect(await ask('plan', ASKED)).toMatchObject({ ok: false, code: 'session_ended' });
  });
});

describe('select', () => {
  it('answers with the chosen tools', async () => {
    const { ask } = await connectTo(plannerOf(answering()));
    expect(await ask('select', ASKED)).toMatchObject({ mode: 'selected', tools: [{ name: 'file_read' }, {}] });
  });

  it('does not repeat what a failing model server says', async () => {
    const error = new WinnowError('model_failed', 'http://10.0.0.1 says: s3cret');
    const { ask } = await connectTo(plannerOf(createScriptedModel({ answers: () => error })));
    const selection = await ask('select', ASKED);
    expect(selection).toMatchObject({ mode: 'fallback', reason: expect.stringMatching(/^model_failed: /u) });
    expect(JSON.stringify(selection)).not.toContain('s3cret');
  });
});

describe('a planner that fails', () => {
  it.each([
    [
      'model_unavailable',
      new WinnowError('model_unavailable', 'http://10.0.0.1 is away'),
      'No model can be loaded or reached.',
      'later',
    ],
    [
      'plan_invalid',
      new WinnowError('plan_invalid', 'No valid plan.', { issues: ['s1: wrong'] }),
      'No valid plan.',
      'later',
    ],
    ['internal', new TypeError('x is undefined'), 'A fault of Winnow itself: please report it.', 'Do not try again'],
  ])('is a result that tells what may be told: %s', async (_, error, reason, next) => {
    const fail = () => Promise.reject(error);
    const { call, log } = await connectTo({ plan: fail, select: fail });
    const result = await call('plan', ASKED);
    expect(result).toMatchObject({
      isError: true,
      structuredContent: { ok: false, reason, next: expect.stringContaining(next) },
    });
    expect(JSON.stringify(result)).not.toMatch(/10\.0\.0\.1|undefined/u);
    expect(log.text()).toContain(error.message);
  });
});
