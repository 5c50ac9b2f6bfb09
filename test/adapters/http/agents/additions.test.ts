/** What is added while the server runs: private tools of users, and rules of operators. */
import { describe, expect, it } from 'vitest';
import { createKeptRules } from '../../../../src/agents/kept-rules.js';
import { createLivePlanner } from '../../../../src/agents/live-catalog.js';
import { createPrivateTools } from '../../../../src/agents/private-tools.js';
import { createSkillExecutor } from '../../../../src/agents/sandbox/executors/functions.js';
import { openStore } from '../../../../src/agents/store/open-store.js';
import { type Catalog, createCatalog } from '../../../../src/core/catalog/catalog.js';
import type { Rule } from '../../../../src/core/catalog/rule.js';
import { createPlanner } from '../../../../src/core/planner.js';
import { createScriptedModel } from '../../../support/scripted-model.js';
import { type AgentServerOptions, startAgentServer, TOOLS } from './setup.js';

/** A user's own tools over HTTP: added, found and run by their user, and never learnt of by another. */
describe('private tools over HTTP', () => {
  const ANN = { user: 'ann' };
  const OPERATOR = { user: 'olga', roles: 'operator' };
  const ZEBRA = {
    name: 'zebra_letters',
    toolType: 'skill',
    description: 'Zebra letters.',
    instructions: 'Write to Zora.',
  };
  const BASE = '/v1/private-tools';

  const start = () => startAgentServer({ more: { executors: [createSkillExecutor()] } });

  it('are added, listed, called and removed by their user, and named in the audit alone', async () => {
    const { ask, url } = await start();
    const entry = { ...ZEBRA, scope: 'system', origin: 'official', key_words: ['stripes'] };
    const added = await ask(`POST ${BASE}`, { tool: entry }, ANN);
    expect([added.status, added.body]).toMatchObject([201, { name: 'my__zebra_letters', origin: 'user:ann' }]);
    expect(added.body.notes).toEqual(['key_words: an unknown key, without effect; "keywords" may be meant']);
    expect((await ask(`GET ${BASE}`, undefined, ANN)).body.tools).toMatchObject([{ name: 'my__zebra_letters' }]);
    const { body: session } = await ask('POST /v1/sessions', {}, ANN);
    const at = `/v1/sessions/${session.id}`;
    await ask(`POST ${at}/enable`, { names: ['my__zebra_letters'] }, ANN);
    const call = async () => (await ask(`POST ${at}/call`, { tool: 'my__zebra_letters' }, ANN)).body;
    expect(await call()).toMatchObject({ ok: true, output: 'Write to Zora.' });
    const metrics = await (await fetch(`${url}/metrics`)).text();
    expect(metrics).toContain('winnow_calls_total{tool="other",outcome="ok"} 1');
    expect(metrics).not.toContain('zebra');
    const removed = await ask(`DELETE ${BASE}/my__zebra_letters`, undefined, ANN);
    expect([removed.status, removed.body]).toEqual([200, { removed: 'my__zebra_letters' }]);
    expect(await call()).toMatchObject({ code: 'unknown_tool' });
    const { body: trail } = await ask('GET /v1/audit?user=ann&tool=my__zebra_letters', undefined, OPERATOR);
    const events = trail.entries.map(({ event }: { event: string }) => event);
    expect(events).toEqual(expect.arrayContaining(['private_tool_added', 'private_tool_removed']));
  });

  it('belong to whom the gateway names, whoever the body names; without a gateway, the body must name one', async () => {
    const { ask } = await start();
    await ask(`POST ${BASE}`, { user: 'ann', tool: ZEBRA }, { user: 'bob' });
    expect((await ask(`GET ${BASE}`, undefined, ANN)).body.tools).toEqual([]);
    expect((await ask(`GET ${BASE}?user=bob`, undefined, ANN)).body.tools).toEqual([]);
    const ofBob = (await ask(`GET ${BASE}?user=bob`)).body.tools.map(({ name }: { name: string }) => name);
    expect(ofBob).toEqual(['diary', 'my__zebra_letters']);
    expect(await ask(`GET ${BASE}`)).toMatchObject({
      status: 400,
      body: { issues: [expect.stringContaining('user:')] },
    });
    expect((await ask(`GET ${BASE}`, undefined, { user: '' })).status).toBe(400);
    expect((await ask(`DELETE ${BASE}/nothing`, undefined, ANN)).status).toBe(404);
  });

  it('are removed by their names, however long', async () => {
    const { ask } = await start();
    const { body } = await ask(`POST ${BASE}`, { tool: { ...ZEBRA, name: '斑'.repeat(252) } }, ANN);
    expect(body.name).toHaveLength(256);
    const removed = await ask(`DELETE ${BASE}/${encodeURIComponent(body.name)}`, undefined, ANN);
    expect([removed.status, removed.body]).toEqual([200, { removed: body.name }]);
  });

  it.each([
    ['tool', {}],
    ['name', { tool: { description: 'x' } }],
    ['owner', { tool: ZEBRA, owner: 'bob' }],
  ])('are refused with the field where it is wrong: %s', async (field, sent) => {
    const { ask } = await start();
    const { status, body } = await ask(`POST ${BASE}`, sent, ANN);
    expect([status, body.issues.join()]).toEqual([400, expect.stringContaining(field)]);
    expect((await ask(`GET ${BASE}`, undefined, ANN)).body.tools).toEqual([]);
  });
});

/** Rules that operators keep, over HTTP: from the next request on, for plans, selections and runs, and for no other tool. */
describe('rules over HTTP', () => {
  const OPERATOR = { user: 'olga', roles: 'operator' };
  const ANN = { user: 'ann' };
  const BASE = '/v1/rules';
  const OWN: Rule = { name: 'own', when: { intent: 'tidy' }, include: ['file_list'] };
  const LIST_FIRST = { when: { message: 'read' }, first: ['file_list'] };
  const ASKED = { message: 'Read the file a.txt' };
  const ANSWERS = {
    selection: '{"selected_tools": ["file_read"], "reason": "it reads"}',
    planning: '{"kind": "plan", "steps": [{"id": "s1", "tool": "file_read", "arguments": {"path": "a"}}]}',
  };

  interface Options extends Pick<AgentServerOptions, 'policy'> {
    answers?: typeof ANSWERS;
  }

  /** As `winnow serve` puts it together: one store, the planner over the tools of now, the rules beside it. */
  async function start({ policy, answers = ANSWERS }: Options = {}) {
    const model = createScriptedModel({ answers: ({ stage }) => answers[stage] });
    const store = await openStore();
    const base = createCatalog(TOOLS, { rules: [OWN] });
    const privateTools = createPrivateTools({ base: () => base, store: store.privateTools });
    const rules = createKeptRules({ base: () => base, store: store.rules });
    const planned: Catalog[] = [];
    const planner = createLivePlanner({
      catalog: privateTools.catalog,
      plannerOf(catalog) {
        planned.push(catalog);
        const options = { passthroughTools: 0, fillTokens: 0 };
        return createPlanner({ catalog, model, options, rules: rules.inForce });
      },
    });
    const more = { store, catalog: () => base, privateTools, rules };
    const server = await startAgentServer({ planner, ...(policy ? { policy } : {}), more });
    const select = async (who = ANN, message = ASKED.message) => {
      const { body } = await server.ask('POST /v1/select', { message }, who);
      return body.tools.map(({ name }: { name: string }) => name);
    };
    return { ...server, model, planner, planned, select };
  }

  it('are put, listed and removed by an operator, count at once, and say who changed them', async () => {
    const { ask, select } = await start();
    const put = await ask(`PUT ${BASE}/list-first`, LIST_FIRST, OPERATOR);
    expect([put.status, put.body]).toEqual([
      200,
      { name: 'list-first', ...LIST_FIRST, from: 'kept', updatedAt: expect.any(String), unknownTools: [] },
    ]);
    expect(await select()).toEqual(['file_list', 'file_read']);
    expect((await ask(`GET ${BASE}`, undefined, OPERATOR)).body).toEqual({
      rules: [{ ...OWN, from: 'catalog', unknownTools: [] }, put.body],
      leftOut: [],
    });
    const wrong = await ask(`PUT ${BASE}/list-first`, { ...LIST_FIRST, name: 'other' }, OPERATOR);
    expect([wrong.status, wrong.body.issues]).toEqual([400, [expect.stringMatching(/^name: /u)]]);
    expect((await ask(`PUT ${BASE}/list-first`, undefined, OPERATOR)).status).toBe(400);
    const removed = await ask(`DELETE ${BASE}/list-first`, undefined, OPERATOR);
    expect([removed.status, removed.body]).toEqual([200, { removed: 'list-first' }]);
    expect((await ask(`DELETE ${BASE}/list-first`, undefined, OPERATOR)).status).toBe(404);
    const { body: trail } = await ask('GET /v1/audit?user=olga', undefined, OPERATOR);
    expect(trail.entries.map(({ event }: { event: string }) => event)).toEqual(['rule_removed', 'rule_put']);
  });

  it('cost nothing of what is kept for the tools: no planner, no view, no index, no prompt is made anew', async () => {
    const { ask, select, model, planner, planned, agents } = await start();
    await select();
    const before = { view: planner.view({ user: 'ann' }), index: agents.index.status(), catalog: agents.catalog() };
    await ask(`PUT ${BASE}/list-first`, LIST_FIRST, OPERATOR);
    await agents.refresh();
    expect(await select()).toEqual(['file_list', 'file_read']);
    expect(planned).toHaveLength(1);
    expect(planner.view({ user: 'ann' })).toBe(before.view);
    expect(agents.catalog()).toBe(before.catalog);
    expect(agents.index.status()).toEqual(before.index);
    const [first, second] = model.calls.map(({ prompt }) => prompt);
    expect(second).toEqual(first);
  });

  it('are for operators: nobody else reads, puts or removes one', async () => {
    const { ask, select } = await start();
    await ask(`PUT ${BASE}/kept`, { ...LIST_FIRST, first: ['file_delete'] }, OPERATOR);
    for (const who of [ANN, { user: 'ann', roles: 'lead' }])
      for (const [line, body] of [
        [`GET ${BASE}`],
        [`PUT ${BASE}/list-first`, LIST_FIRST],
        [`PUT ${BASE}/kept`, LIST_FIRST],
        [`DELETE ${BASE}/kept`],
        [`DELETE ${BASE}/nothing`],
      ] as const) {
        const { status, body: problem } = await ask(line, body, who);
        expect([line, status, problem.detail]).toEqual([line, 404, expect.stringMatching(/^This is for operators/u)]);
      }
    expect(await select()).toEqual(['file_delete', 'file_read']);
  });

  it('may have any name that an address can hold', async () => {
    const { ask } = await start();
    for (const name of ['水'.repeat(100), 'flood/report 1', '100 %']) {
      const line = `${BASE}/${encodeURIComponent(name)}`;
      expect([name, (await ask(`PUT ${line}`, LIST_FIRST, OPERATOR)).body.name]).toEqual([name, name]);
      expect((await ask(`DELETE ${line}`, undefined, OPERATOR)).body).toEqual({ removed: name });
    }
  });

  it('never show a tool that the caller may not see, in a selection, a plan or an error', async () => {
    const policy = { rules: [{ name: 'shut', match: { tool: 'file_delete' }, decision: 'deny' as const }] };
    const wrong = {
      ...ANSWERS,
      planning: '{"kind": "plan", "steps": [{"id": "s1", "tool": "diary", "arguments": {}}]}',
    };
    const names = ['diary', 'file_delete', 'ghost'];
    const rule = { when: { message: 'read' }, first: names, last: names, include: names };
    for (const [answers, status] of [
      [ANSWERS, 200],
      [wrong, 502],
    ] as const) {
      const { ask, model } = await start({ policy, answers });
      const look = async () => {
        const asked = model.calls.length;
        const select = await ask('POST /v1/select', ASKED, ANN);
        const plan = await ask('POST /v1/plan', ASKED, ANN);
        const text = JSON.stringify([select, plan], (key, value) =>
          /^(?:milliseconds|requestId|instance)$/u.test(key) ? 0 : value,
        );
        return {
          text,
          status: plan.status,
          prompts: model.calls.slice(asked).map(({ prompt, schema }) => ({ prompt, schema })),
        };
      };
      const before = await look();
      await ask(`PUT ${BASE}/secret`, rule, OPERATOR);
      expect(await look()).toEqual(before);
      expect(before.status).toBe(status);
    }
    const { ask, select } = await start({ policy });
    await ask(`PUT ${BASE}/secret`, rule, OPERATOR);
    expect(await select({ user: 'bob' })).toEqual(['diary', 'file_read']);
  });
});

/** Plans that a user keeps over HTTP: run by their name, drawn, and never learnt of by another. */
describe('kept plans over HTTP', () => {
  const ANN = { user: 'ann' };
  const PLAN = {
    inputs: { path: {} },
    steps: [{ id: 's1', tool: 'file_read', arguments: { path: '${input.path}' } }],
  };

  it('go from being kept to runs with other inputs, and are gone when they are removed', async () => {
    const { ask, runs } = await startAgentServer();
    const kept = await ask('POST /v1/kept-plans', { name: 'morning', plan: PLAN }, ANN);
    expect([kept.status, kept.body]).toMatchObject([201, { name: 'morning', plan: { inputs: { path: {} } } }]);
    const { hash } = kept.body;
    const { body: opened } = await ask('POST /v1/sessions', {}, ANN);
    await ask(`POST /v1/sessions/${opened.id}/enable`, { names: ['file_read'] }, ANN);
    const run = (more: object) =>
      ask('POST /v1/plans/run', { session: opened.id, kept: { name: 'morning', hash }, ...more }, ANN);
    for (const path of ['a', 'b']) expect((await run({ inputs: { path } })).body.state).toBe('done');
    expect(runs).toEqual(['file_read a', 'file_read b']);
    expect((await run({})).body).toMatchObject({ status: 400, issues: ['inputs: give a value for path'] });
    expect((await run({ inputs: { path: 'a', pth: 'b' } })).body.issues).toEqual([
      'inputs: the plan has no input "pth"; it has path; near: path',
    ]);
    expect((await run({ plan: PLAN })).body.issues).toEqual([
      'plan: give a plan, or the name of one under `kept`: one of the two',
    ]);
    const changed = await ask(
      'POST /v1/kept-plans',
      { name: 'morning', plan: { ...PLAN, goal: 'x' }, replaces: hash },
      ANN,
    );
    expect(changed.status).toBe(201);
    expect((await run({ inputs: { path: 'a' } })).body).toMatchObject({ status: 409, code: 'conflict' });
    expect((await ask('GET /v1/kept-plans', undefined, ANN)).body.plans).toEqual([
      { name: 'morning', hash: changed.body.hash, goal: 'x', tools: ['file_read'], updatedAt: changed.body.updatedAt },
    ]);
    expect((await ask('GET /v1/kept-plans/morning/mermaid', undefined, ANN)).body.mermaid).toContain('s1: file_read');
    expect((await ask('GET /v1/kept-plans/morning/arazzo', undefined, ANN)).body.workflows[0].workflowId).toBe(
      'morning',
    );
    expect((await ask('DELETE /v1/kept-plans/morning', undefined, ANN)).body).toEqual({ removed: 'morning' });
    expect((await ask('GET /v1/kept-plans/morning', undefined, ANN)).status).toBe(404);
  });

  it('are of one user: another finds, runs, changes and removes none of them', async () => {
    const { ask } = await startAgentServer();
    await ask('POST /v1/kept-plans', { name: 'morning', plan: PLAN }, ANN);
    const bob = { user: 'bob' };
    const { body: opened } = await ask('POST /v1/sessions', {}, bob);
    expect((await ask('GET /v1/kept-plans?user=ann', undefined, bob)).body.plans).toEqual([]);
    const run = { session: opened.id, kept: { name: 'morning' }, inputs: { path: 'a' } };
    for (const [request, body] of [
      ['GET /v1/kept-plans/morning', undefined],
      ['DELETE /v1/kept-plans/morning?user=ann', undefined],
      ['POST /v1/plans/run', run],
    ] as const)
      expect((await ask(request, body, bob)).body).toMatchObject({
        status: 404,
        detail: 'You keep no plan "morning".',
      });
    expect((await ask('GET /v1/kept-plans/morning', undefined, ANN)).status).toBe(200);
  });
});
