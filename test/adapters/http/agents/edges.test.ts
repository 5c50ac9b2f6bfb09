/** What is broken in a request, what is counted, and runs of plans, over real HTTP. */
import { describe, expect, it } from 'vitest';
import { WinnowError } from '../../../../src/core/errors.js';
import { parseEvents } from '../setup.js';
import { readingPlanner, startAgentServer } from './setup.js';

const ANN = { user: 'ann' };

describe('a broken request', () => {
  it('is a problem document that names the field', async () => {
    const { ask } = await startAgentServer();
    const { body: opened } = await ask('POST /v1/sessions');
    const session = `/v1/sessions/${opened.id}`;
    const rows: [string, unknown, string][] = [
      ['POST /v1/sessions', { user: '' }, 'user'],
      ['POST /v1/sessions', { name: 'x' }, 'request: Unrecognized key "name"; known: user, roles'],
      ['POST /v1/sessions', { riskCeiling: 'huge' }, 'riskCeiling'],
      [`POST ${session}/search`, undefined, 'query'],
      [`POST ${session}/search`, { query: 'x', top_k: 0 }, 'top_k'],
      [`POST ${session}/enable`, { names: [] }, 'names'],
      [`POST ${session}/disable`, {}, 'names'],
      [`POST ${session}/call`, { arguments: {} }, 'tool'],
      [`GET ${session}/tools?mode=all`, undefined, 'mode'],
      [`GET ${session}/tools?mode=narrow`, undefined, 'query'],
      [`GET ${session}/tools?top_k=x`, undefined, 'top_k'],
      [
        'POST /v1/plans/run',
        { plan: { steps: [{ id: 's1', tool: 'x', arguments: {}, from: { path: 'me' } }] }, session: opened.id },
        'plan.steps.0.from.path',
      ],
      ['GET /v1/approvals?state=open', undefined, 'state'],
      ['GET /v1/audit?limit=0', undefined, 'limit'],
      ['GET /v1/telemetry?since=yesterday', undefined, 'since'],
      ['POST /v1/approvals/x/grant', {}, 'by'],
      ['POST /v1/approvals/x/grant', { by: { user: 'bob' }, grant: 'always' }, 'grant'],
      ['POST /v1/plans/run', { plan: { steps: [] }, session: opened.id }, 'plan.steps'],
      ...(
        [
          [{ session: undefined }, 'session'],
          [{ tool: '' }, 'tool'],
          [{ arguments: [] }, 'arguments'],
          [{ reason: '' }, 'reason'],
          [{ approval: 'x' }, 'approval'],
        ] as const
      ).map(([more, field]): [string, unknown, string] => [
        'POST /v1/approvals',
        { session: opened.id, tool: 'file_delete', arguments: { path: 'a' }, ...more },
        field,
      ]),
    ];
    for (const [line, body, field] of rows) {
      const { status, body: problem } = await ask(line, body);
      expect([line, status, problem.code, problem.status]).toEqual([line, 400, 'invalid_request', 400]);
      expect([line, problem.issues.join()]).toEqual([line, expect.stringContaining(field)]);
    }
    expect((await ask(`GET ${session}`, undefined, { user: 'x'.repeat(300) })).status).toBe(400);
    expect((await ask('PUT /v1/approvals', {})).status).toBe(405);
    expect((await ask('PUT /v1/approvals/a-b/grant', {})).status).toBe(405);
    expect((await ask('POST /v1/plans/runs/nothing/resume', {})).body.code).toBe('not_found');
    expect((await ask('POST /v1/approvals/nothing/grant', { by: { user: 'bob' } })).body).toMatchObject({
      ok: false,
      code: 'approval_unknown',
    });
  });

  it.each(['grant', 'refuse'])(
    'says which field is missing where nobody is named for the decision: %s',
    async (verb) => {
      const { ask } = await startAgentServer();
      const { status, body } = await ask(`POST /v1/approvals/x/${verb}`, {});
      expect([status, body.detail]).toEqual([
        400,
        'The request is not usable: by: name who decides, as {"user": "…"}.',
      ]);
    },
  );

  it('is none where a type is named and no body sent, unless one is needed', async () => {
    const { ask, url } = await startAgentServer();
    const { body: opened } = await ask('POST /v1/sessions');
    const post = async (path: string) => {
      const headers = { 'content-type': 'application/json' };
      const response = await fetch(`${url}/v1/sessions/${opened.id}/${path}`, { method: 'POST', headers });
      return { status: response.status, body: await response.json() };
    };
    expect(await post('turns')).toMatchObject({ status: 200, body: { turn: 2 } });
    expect(await post('call')).toMatchObject({ status: 400, body: { issues: [expect.stringContaining('tool')] } });
  });
});

describe('GET /metrics', () => {
  it('counts in the text format of Prometheus, and names no user', async () => {
    const { url, ask } = await startAgentServer();
    const { body } = await ask('POST /v1/sessions', {}, ANN);
    await ask(`POST /v1/sessions/${body.id}/search`, { query: 'read' }, ANN);
    const response = await fetch(`${url}/metrics`);
    const text = await response.text();
    expect(response.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/u);
    expect(text).toContain('winnow_searches_total{ranked_by="rules"} 1');
    expect(text).toContain('winnow_index_state{state="ready"} 1');
    expect(text).not.toContain('ann');
  });

  it('counts plans, selections, their tokens, what models did wrong, and requests by route', async () => {
    const server = await startAgentServer({ planner: readingPlanner(new WinnowError('model_timeout', 'too slow')) });
    const { url, ask } = server;
    // The first call of the model fails: that selection falls back.
    expect(await ask('POST /v1/plan', { message: 'read a' })).toMatchObject({ status: 200 });
    expect(await ask('POST /v1/select', { message: 'read a' })).toMatchObject({ status: 200 });
    await ask('GET /v1/nothing');
    const text = await (await fetch(`${url}/metrics`)).text();
    for (const line of [
      'winnow_plans_total{outcome="planned"} 1',
      'winnow_plan_seconds_count 1',
      'winnow_selections_total{mode="fallback"} 1',
      'winnow_selections_total{mode="selected"} 1',
      'winnow_fallbacks_total{code="model_timeout"} 1',
      'winnow_model_errors_total{code="model_timeout"} 1',
      'winnow_http_requests_total{method="POST",route="/v1/plan",status="2xx"} 1',
      'winnow_http_requests_total{method="other",route="other",status="4xx"} 1',
    ])
      expect(text.split('\n')).toContain(line);
    expect(text).toMatch(/^winnow_tokens_total\{stage="planning",kind="written"\} [1-9]/mu);
    expect(text).not.toContain('nothing');
  });

  it('counts plans that failed, and those of a run that is planned again', async () => {
    const error = new WinnowError('model_failed', 'http://10.0.0.1 says: s3cret');
    const { url, ask } = await startAgentServer({
      planner: { ...readingPlanner(), plan: () => Promise.reject(error) },
    });
    expect(await ask('POST /v1/plan', { message: 'x' })).toMatchObject({ status: 502 });
    const { body } = await ask('POST /v1/sessions', { user: 'ann' });
    const steps = [{ id: 's1', tool: 'file_read', arguments: {}, purpose: '' }];
    const run = { session: body.id, plan: { steps }, request: { message: 'x' } };
    expect(await ask('POST /v1/plans/run', run)).toMatchObject({
      body: { state: 'failed', notes: [expect.stringContaining('failed')] },
    });
    const text = await (await fetch(`${url}/metrics`)).text();
    expect(text).toContain('winnow_plans_total{outcome="failed"} 2\n');
    expect(text).toContain('winnow_model_errors_total{code="model_failed"} 2\n');
    expect(text).not.toContain('s3cret');
  });
});

describe('a run of a plan', () => {
  const step = (id: string, tool: string, path: string) => ({ id, tool, arguments: { path }, purpose: '' });
  const plan = {
    goal: 'tidy up',
    steps: [
      { ...step('s1', 'file_list', ''), arguments: {} },
      step('s2', 'file_read', '${s1.path}'),
      step('s3', 'file_delete', '${s1.path}'),
    ],
  };

  async function openWith(...names: string[]) {
    const server = await startAgentServer();
    const { body: session } = await server.ask('POST /v1/sessions', {}, ANN);
    if (names.length > 0) await server.ask(`POST /v1/sessions/${session.id}/enable`, { names }, ANN);
    return { ...server, session: session.id };
  }

  it('waits for an approval, of which others are told where its arguments come from, and goes on after it', async () => {
    const { ask, runs, session } = await openWith('file_list', 'file_read', 'file_delete');
    const steps = plan.steps.map((one) => (one.id === 's3' ? { ...one, from: { path: 'step' } } : one));
    const { body: paused } = await ask('POST /v1/plans/run', { session, plan: { steps } }, ANN);
    const sources = { path: { source: 'step', references: ['${s1.path}'] } };
    expect(paused).toMatchObject({
      state: 'paused',
      steps: { s1: { status: 'done' }, s2: { status: 'done' }, s3: { status: 'needs_approval', sources } },
    });
    const bob = { user: 'bob', roles: 'operator' };
    const { approval } = paused.steps.s3;
    const { body: one } = await ask(`GET /v1/approvals/${approval}`, undefined, bob);
    expect(one).toMatchObject({ arguments: { path: 'a.txt' }, sources });
    expect((await ask('GET /v1/approvals', undefined, bob)).body.approvals).toEqual([one]);
    const audit = await ask('GET /v1/audit?event=call&tool=file_delete', undefined, { user: 'eve', roles: 'operator' });
    expect(audit.body.entries).toMatchObject([{ outcome: 'needs_approval', sources }]);
    const resume = `POST /v1/plans/runs/${paused.id}/resume`;
    expect((await ask(resume, {}, { user: 'bob' })).status).toBe(404);
    await ask(`POST /v1/approvals/${approval}/grant`, {}, bob);
    expect((await ask(resume, {}, ANN)).body).toMatchObject({
      state: 'done',
      steps: { s3: { output: { gone: true } } },
    });
    expect(runs).toEqual(['file_list', 'file_read a.txt', 'file_delete a.txt']);
  });

  it('runs nothing that is not enabled, and nothing in a dry run', async () => {
    const { ask, runs, session } = await openWith('file_list');
    const dry = await ask('POST /v1/plans/run', { session, plan, dryRun: true }, ANN);
    expect(dry.body).toMatchObject({ state: 'planned', steps: { s2: { unresolved: expect.any(Array) } } });
    expect(runs).toEqual([]);
    const figures = async () => (await ask('GET /v1/telemetry', undefined, ANN)).body.total;
    expect(await figures()).toMatchObject({ calls: 0, refused: 0 });
    const { body } = await ask('POST /v1/plans/run', { session, plan }, ANN);
    expect(await figures()).toMatchObject({ calls: 1, refused: 2 });
    expect(body).toMatchObject({ state: 'failed', steps: { s2: { failure: { code: 'not_enabled' } } } });
    expect(runs).toEqual(['file_list']);
    expect((await ask('POST /v1/plans/run', { session, plan }, { user: 'bob' })).status).toBe(404);
  });

  it('is planned again once where it says what it is for, waits for a look, and then passes the same gate', async () => {
    const { ask, runs } = await startAgentServer({ planner: readingPlanner() });
    const { body: opened } = await ask('POST /v1/sessions', {}, ANN);
    const session = opened.id;
    const failing = { steps: [step('s1', 'nothing', 'a')] };
    const request = { message: 'Read the file a.txt', user: 'bob' };
    const { body } = await ask('POST /v1/plans/run', { session, plan: failing, request }, ANN);
    expect(body).toMatchObject({
      state: 'paused',
      plan: { steps: [{ tool: 'file_read' }] },
      notes: [expect.stringContaining('s1 calls file_read')],
      earlier: { plan: { steps: [{ tool: 'nothing' }] } },
    });
    const { body: resumed } = await ask(`POST /v1/plans/runs/${body.id}/resume`, {}, ANN);
    expect(resumed).toMatchObject({ state: 'failed', steps: { s1: { failure: { code: 'not_enabled' } } } });
    expect((await ask('POST /v1/plans/run', { session, plan: failing }, ANN)).body.earlier).toBeUndefined();
    expect(runs).toEqual([]);
  });

  it('tells each change as it happens, where events are asked for', async () => {
    const { url, session } = await openWith('file_list', 'file_read');
    const response = await fetch(`${url}/v1/plans/run`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream', 'x-winnow-user': 'ann' },
      body: JSON.stringify({ session, plan: { steps: plan.steps.slice(0, 2) } }),
    });
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    const events = parseEvents(await response.text());
    expect(events.slice(0, -1).every(({ event }) => event === 'change')).toBe(true);
    expect(events.map(({ data }) => data.type ?? data.state)).toEqual([
      'run',
      'step',
      'step',
      'step',
      'step',
      'run',
      'done',
    ]);
    expect(events.at(-1)).toMatchObject({ event: 'result', data: { state: 'done' } });
  });
});
