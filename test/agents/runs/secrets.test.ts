/** What of a run is kept: no secret, and all that is needed to go on, or a question for what is missing. */
import { describe, expect, it } from 'vitest';
import type { CallResult } from '../../../src/agents/contracts.js';
import type { RunnablePlan } from '../../../src/agents/runs/plan-run.js';
import { resumePlan, runPlan } from '../../../src/agents/runs/run-plan.js';
import { createToolRunner } from '../../../src/agents/runs/tool-runner.js';
import { createFunctionExecutor } from '../../../src/agents/sandbox/executors/functions.js';
import { createSandbox } from '../../../src/agents/sandbox/sandbox.js';
import { openStore } from '../../../src/agents/store/open-store.js';
import { createTool } from '../../support/create-tool.js';
import { createScript, done, planOf, type StepSpec, statuses } from './setup.js';

const waiting: CallResult = { ok: false, code: 'needs_approval', reason: 'high', next: 'x', approval: 'a' };
const secret = { type: 'string', format: 'password' };
const TOOLS = [
  createTool(
    'login',
    { properties: { user: { type: 'string' }, pin: secret } },
    {
      type: 'object',
      properties: { ticket: { ...secret, type: 'string' }, greeting: { type: 'string' } },
    },
  ),
  createTool('act', { properties: { pin: secret, text: { type: 'string' } } }),
  createTool(
    'mint',
    { properties: { vault: { type: 'object', additionalProperties: secret } } },
    { type: 'array', items: secret },
  ),
];
const { secretsOf } = createToolRunner(
  createSandbox({ executors: [createFunctionExecutor({})] }),
  new Map(TOOLS.map((tool) => [tool.name, tool])),
);

const LOGIN: StepSpec = ['s1', 'login', { user: 'ann', pin: 'hunter-22' }];
const LOGGED_IN = done({ ticket: 'ticket-of-ann', greeting: 'hello hunter-22' });

/** Runs until a step waits, and gives what a new process finds in the store. */
async function begin(plan: RunnablePlan, answers: Parameters<typeof createScript>[0]) {
  const { planRuns: store } = await openStore();
  const script = createScript(answers);
  const options = { run: script.run, store, secretsOf };
  const paused = await runPlan(plan, { ...options, runId: 'r' });
  const stored = async () => JSON.stringify(await store.get('r'));
  const resume = (given?: ResumeOptions['arguments']) =>
    resumePlan('r', { ...options, ...(given ? { arguments: given } : {}) });
  return { paused, script, store, stored, kept: await stored(), resume };
}
type ResumeOptions = NonNullable<Parameters<typeof resumePlan>[1]>;

const ACTS = { login: [LOGGED_IN], act: [waiting, done('acted')] };
const pause = (...steps: StepSpec[]) => begin(planOf(...steps), ACTS);

describe('secrets in a run', () => {
  it('are shown to the caller and kept nowhere: not in the plan, arguments, results, echoes or later arguments', async () => {
    const { paused, kept, script } = await pause(LOGIN, ['s2', 'act', { text: 'with ${s1.ticket}' }]);
    expect(statuses(paused)).toEqual({ s1: 'done', s2: 'needs_approval' });
    expect(script.calls[1]?.arguments).toEqual({ text: 'with ticket-of-ann' });
    expect(paused.steps.s1).toMatchObject({ arguments: { pin: 'hunter-22' }, output: { ticket: 'ticket-of-ann' } });
    expect(kept).toContain('"user":"ann"');
    expect(kept).toContain('with ${s1.ticket}');
    expect(kept).not.toMatch(/hunter-22|ticket-of-ann/u);
  });

  it('that are numbers are kept nowhere else either, as numbers or inside texts; other numbers are', async () => {
    const login = [done({ ticket: 430_117, greeting: 'hello' })];
    const act = { text: '${s1.ticket}', all: ['no ${s1.ticket}', 1_430_117, 7] };
    const { paused, store } = await begin(planOf(LOGIN, ['s2', 'act', act]), { login, act: [waiting] });
    expect(paused.steps.s2?.arguments).toEqual({ text: 430_117, all: ['no 430117', 1_430_117, 7] });
    const kept = await store.get('r');
    expect(kept?.steps.s2).toMatchObject({
      arguments: { text: '[masked]', all: ['no [masked]', 1_430_117, 7] },
      isMasked: true,
    });
  });

  it('that a schema marks without a name are kept nowhere either: values of any key, and items of a list', async () => {
    const plan = planOf(['s1', 'mint', { vault: { main: 'hunter-33' } }], ['s2', 'act', { text: 'with ${s1[0]}' }]);
    const mint = [done(['token-one', 'token-two'])];
    const { paused, script, kept } = await begin(plan, { mint, act: [waiting] });
    expect(paused.steps.s1).toMatchObject({ output: ['token-one', 'token-two'] });
    expect(script.calls[1]?.arguments).toEqual({ text: 'with token-one' });
    expect(kept).not.toMatch(/hunter-33|token-one|token-two/u);
  });

  it('are looked for up to some length in all: a plan with more is refused, and behind results with more no text is kept', async () => {
    const one = await pause(['s1', 'act', { pin: 'x'.repeat(16_385) }]);
    expect(one.paused.state).toBe('paused');
    const long = { a: 'x'.repeat(8_000), b: 'y'.repeat(8_000), c: 'z'.repeat(400) };
    const refused = {
      code: 'invalid_request',
      message: expect.stringContaining('more than 16384 characters of secrets'),
    };
    await expect(pause(['s1', 'mint', { vault: long }])).rejects.toMatchObject(refused);
    const tokens = Array.from({ length: 9_000 }, (_, at) => `token-${at}`);
    const script = { mint: [done(tokens)], act: [done('said token-3'), waiting] };
    const steps = ['s1', 's2', 's3'].map((id, at): StepSpec => [id, at === 0 ? 'mint' : 'act', { text: 'hello' }]);
    const { store } = await begin(planOf(...steps), script);
    const run = await store.get('r');
    expect(run?.steps.s1).toMatchObject({ output: tokens.map(() => '[masked]') });
    expect([run?.steps.s2, run?.steps.s3]).toMatchObject([{ output: '[masked]' }, { arguments: { text: '[masked]' } }]);
  });

  it('of steps that are done are not asked for again', async () => {
    const { resume, script } = await pause(LOGIN, ['s2', 'act', { text: 'now' }, ['s1']]);
    const run = await resume();
    expect(run.state).toBe('done');
    expect(script.made()).toEqual(['s1', 's2', 's2']);
    expect(run.steps.s1).toMatchObject({ isMasked: true, output: { ticket: '[masked]', greeting: 'hello [masked]' } });
  });

  it('that a step still needs are asked for, and it runs with them', async () => {
    const { resume, script } = await pause(['s1', 'act', { pin: 'hunter-22', text: 'now' }]);
    await expect(resume()).rejects.toMatchObject({
      code: 'invalid_request',
      message: expect.stringContaining('s1.pin is secret and was not kept; give it again'),
    });
    const run = await resume({ s1: { pin: 'hunter-22' } });
    expect(run.state).toBe('done');
    expect(script.calls[1]?.arguments).toEqual({ pin: 'hunter-22', text: 'now' });
  });

  it('that come as an input of the run are kept nowhere either, and are asked for again', async () => {
    const steps = [{ id: 's1', tool: 'act', arguments: { pin: '${input.pin}', text: 'for ${input.who}' } }];
    const inputs = { pin: { value: 'hunter-22' }, who: { value: 'ann' } };
    const { script, kept, resume } = await begin({ steps, inputs }, ACTS);
    expect(script.calls[0]?.arguments).toEqual({ pin: 'hunter-22', text: 'for ann' });
    expect(kept).toContain('for ann');
    expect(kept).not.toContain('hunter-22');
    const asked = await resume();
    expect(asked.steps.s1?.failure?.issues).toEqual([
      's1.arguments.pin: "${input.pin}" is secret and was not kept; resume with a value for this argument',
    ]);
    const run = await resume({ s1: { pin: 'hunter-22' } });
    expect(run.state).toBe('done');
    expect(script.calls[1]?.arguments).toEqual({ pin: 'hunter-22', text: 'for ann' });
  });

  it('that come in the items of a loop are kept nowhere: not in its input, its results or another input', async () => {
    const login = [done({ ticket: 'ticket-of-ann', greeting: 'hello' })];
    const accounts = { value: [{ user: 'ann', pin: 'hunter-22' }] };
    const steps = [
      { id: 's1', tool: 'login', arguments: { user: '${item.user}', pin: '${item.pin}' }, each: '${input.accounts}' },
      { id: 's2', tool: 'act', arguments: { text: '${s1[0].greeting}' }, dependsOn: ['s1'] },
    ];
    const inputs = { accounts, note: { value: 'use hunter-22' }, mask: { value: 'grep [masked]' } };
    const { paused, script, kept } = await begin({ steps, inputs }, { login, act: [waiting] });
    expect(script.calls[0]?.arguments).toEqual({ user: 'ann', pin: 'hunter-22' });
    expect(statuses(paused)).toMatchObject({ s1: 'done', s2: 'needs_approval' });
    expect(kept).toContain('"greeting":"hello"');
    expect(kept).not.toMatch(/hunter-22|ticket-of-ann/u);
  });

  it('are kept in no word of the plan: not in its goal, a purpose, a description or a condition; names and references stay', async () => {
    const { planRuns: store } = await openStore();
    const failed: CallResult = { ok: false, code: 'tool_failed', reason: 'no', next: 'x' };
    const script = createScript({ login: [done({ hunter: 'x', greeting: 'hello' })], act: [failed] });
    const plan = (pin: string) => ({
      goal: `log in with ${pin}`,
      inputs: { pin: { description: `for example ${pin}`, value: pin } },
      steps: [
        { id: 's1', tool: 'login', arguments: { pin: '${input.pin}' }, purpose: `use ${pin}` },
        {
          ...{ id: 's2', tool: 'act', arguments: { text: '${s1.hunter}' }, dependsOn: ['s1'] },
          when: { value: '${s1.hunter}', is: 'different' as const, to: pin },
        },
      ],
    });
    const replan = async () => ({ ...plan('hunter'), goal: 'again with hunter' });
    const run = await runPlan(plan('hunter'), { run: script.run, store, secretsOf, runId: 'r', replan });
    expect(run.plan.goal).toBe('again with hunter');
    const kept = (await store.get('r'))?.plan;
    const hidden = { ...plan('[masked]'), goal: 'again with [masked]' };
    expect(kept).toMatchObject({ plan: hidden, earlier: { plan: plan('[masked]') } });
  });

  it('that a condition compares with are not guessed when the run goes on', async () => {
    const { planRuns: store } = await openStore();
    const script = createScript({ login: [LOGGED_IN], act: [waiting, done('acted')] });
    const steps = [
      { id: 's1', tool: 'login', arguments: { pin: 'hunter-22' } },
      { id: 's2', tool: 'act', arguments: {}, dependsOn: ['s1'] },
      {
        ...{ id: 's3', tool: 'act', arguments: {}, dependsOn: ['s2'] },
        when: { value: '${s2}', is: 'different' as const, to: 'hunter-22' },
      },
    ];
    const options = { run: script.run, store, secretsOf };
    await runPlan({ steps }, { ...options, runId: 'r' });
    const run = await resumePlan('r', options);
    expect(statuses(run)).toEqual({ s1: 'done', s2: 'done', s3: 'failed' });
    expect(run.steps.s3?.failure?.reason).toContain('is secret and was not kept; run the plan anew');
  });

  it('in a list do not stand in the way of a loop that does not need them', async () => {
    const steps = [
      { id: 's1', tool: 'login', arguments: { user: 'ann' }, each: '${input.names}' },
      { id: 's2', tool: 'act', arguments: { text: '${item.greeting}' }, each: '${s1}' },
    ];
    const again = await (await begin({ steps, inputs: { names: { value: [1] } } }, ACTS)).resume();
    expect(again.steps.s2).toMatchObject({ status: 'done', output: ['acted'] });
  });

  it('in results that a step still needs are asked for, too', async () => {
    const { resume, script } = await pause(LOGIN, ['s2', 'act', { text: '${s1.ticket}' }]);
    const failed = await resume();
    expect(failed.steps.s2?.failure).toMatchObject({ code: 'unresolved_reference' });
    expect(failed.steps.s2?.failure?.reason).toContain('"${s1.ticket}" is secret and was not kept');
    expect((await resume({ s2: { text: 'ticket-of-ann' } })).state).toBe('done');
    expect(script.calls.at(-1)?.arguments).toEqual({ text: 'ticket-of-ann' });
  });

  it('that a step takes from an earlier result are kept nowhere either, also where that result has no mark, and are asked for again', async () => {
    const session = { session: 'token-of-ann', user: 'ann' };
    const steps: StepSpec[] = [
      ['s1', 'read'],
      ['s2', 'act', { pin: '${s1.session}', text: 'for ${s1.user}' }],
    ];
    const answers = { read: [done({ ...session, said: 'use token-of-ann' })], act: [waiting, done('acted')] };
    const { paused, script, store, stored, kept, resume } = await begin(planOf(...steps), answers);
    expect(script.calls[1]?.arguments).toEqual({ pin: 'token-of-ann', text: 'for ann' });
    expect(paused.steps.s1?.output).toMatchObject(session);
    expect(kept).not.toContain('token-of-ann');
    const output = { session: '[masked]', user: 'ann', said: 'use [masked]' };
    expect((await store.get('r'))?.steps.s1).toMatchObject({ output, isMasked: true });
    const asked = await resume();
    expect(asked.steps.s2?.failure?.issues).toEqual([
      's2.arguments.pin: "${s1.session}" is secret and was not kept; resume with a value for this argument',
    ]);
    expect((await resume({ s2: { pin: 'token-of-ann' } })).state).toBe('done');
    expect(script.calls.at(-1)?.arguments).toEqual({ pin: 'token-of-ann', text: 'for ann' });
    expect(script.made()).toEqual(['s1', 's2', 's2']);
    expect(await stored()).not.toContain('token-of-ann');
  });

  it.each<[string, unknown, string, string | undefined, unknown]>([
    ['a whole result', 'token-of-ann', '${s1}', undefined, '[masked]'],
    ['a part of a text', { a: ['x', 'token-of-ann'] }, 'Bearer ${s1.a[1]}', undefined, { a: ['x', '[masked]'] }],
    ['a whole object', { a: { b: 'token-of-ann', c: 1 } }, '${s1.a}', undefined, { a: '[masked]' }],
    [
      'each item of a list',
      { a: [{ b: 'token-of-ann', c: 1 }] },
      '${item.b}',
      '${s1.a}',
      { a: [{ b: '[masked]', c: 1 }] },
    ],
  ])('that a step takes from an earlier result are kept nowhere as %s', async (_, output, pin, each, hidden) => {
    const steps = [
      { id: 's1', tool: 'read', arguments: {} },
      { id: 's2', tool: 'act', arguments: { pin }, ...(each === undefined ? {} : { each }) },
    ];
    const { script, store, kept } = await begin({ steps }, { read: [done(output)], act: [done('acted')] });
    expect(JSON.stringify(script.calls[1]?.arguments)).toContain('token-of-ann');
    expect((await store.get('r'))?.steps.s1).toMatchObject({ output: hidden });
    expect(kept).not.toContain('token-of-ann');
  });

  it('that a step takes from the results of a loop are kept neither there nor with its items', async () => {
    const steps = [
      { id: 's1', tool: 'read', arguments: {}, each: '${input.of}' },
      { id: 's2', tool: 'act', arguments: { pin: '${s1[1].a}' } },
      { id: 's3', tool: 'act', arguments: { pin: '${item.b}' }, each: '${s1}' },
    ];
    const read = [1, 2].map((at) => done({ a: `first-${at}`, b: `other-${at}` }));
    const inputs = { of: { value: [1, 2] } };
    const { store, kept } = await begin({ steps, inputs }, { read, act: [done('acted')] });
    const items = [
      { a: 'first-1', b: '[masked]' },
      { a: '[masked]', b: '[masked]' },
    ];
    const states = (await store.get('r'))?.steps;
    expect([states?.['s1[0]'], states?.['s1[1]'], states?.s1]).toMatchObject(
      [...items, items].map((output) => ({ output })),
    );
    expect(kept).not.toMatch(/first-2|other-\d/u);
  });

  it('make a call of the plan before one of unknown outcome, since nobody can tell whether it was the same', async () => {
    const { planRuns: store } = await openStore();
    const wrong: CallResult = { ok: false, code: 'tool_failed', reason: 'no', next: 'x' };
    const script = createScript({ act: [done('acted')], read: [wrong], gate: [waiting, done('open')] });
    const act = { pin: 'hunter-22', text: 'now' };
    const replan = async () => planOf(['s1', 'gate'], ['s2', 'act', act, ['s1']]);
    const plan = planOf(['s1', 'act', act], ['s2', 'read', {}, ['s1']]);
    await runPlan(plan, { run: script.run, store, secretsOf, runId: 'r', replan });
    const again = { s2: { pin: 'hunter-22' } };
    // The new plan was looked at; it then waits for an approval.
    const options = { run: script.run, store, secretsOf, arguments: again };
    expect((await resumePlan('r', options)).state).toBe('paused');
    const run = await resumePlan('r', options);
    expect(statuses(run)).toEqual({ s1: 'done', s2: 'unknown' });
    expect(script.calls.filter(({ tool }) => tool === 'act')).toHaveLength(1);
  });

  it('are filled into their places alone', async () => {
    const to = { url: 'https://a.test', pin: 'hunter-22' };
    const { resume, script } = await pause(['s1', 'act', { to, text: 'say hunter-22 now' }]);
    const run = await resume({ s1: { to: { pin: 'hunter-22' }, text: 'say hunter-22 now' } });
    expect(run.state).toBe('done');
    expect(script.calls[1]?.arguments).toEqual({ to, text: 'say hunter-22 now' });
  });

  it.each([
    ['another argument', { s1: { text: 'later' } }],
    ['a step that is not there', { s9: { pin: 'x' } }],
    ['what stands beside a secret', { s1: { to: { url: 'https://b.test', pin: 'hunter-22' } } }],
    ['a new part', { s1: { to: { path: '/', pin: 'hunter-22' } } }],
    ['a whole object', { s1: { to: 'https://b.test' } }],
    ['the words around a secret', { s1: { note: 'drop hunter-22 now' } }],
    ['the words behind a secret', { s1: { note: 'say hunter-22 later' } }],
    ['an open input', { s1: { who: 'bob' } }],
  ])('are all that can be given again, not %s', async (_, given) => {
    const to = { url: 'https://a.test', pin: 'hunter-22' };
    const values = { to, text: 'now', note: 'say hunter-22 now', who: '${input.who}' };
    const plan = { ...planOf(['s1', 'act', values]), inputs: { who: { value: 'ann' } } };
    const { resume, script } = await begin(plan, ACTS);
    const rejected = { code: 'invalid_request', message: expect.stringContaining('is no secret') };
    await expect(resume(given)).rejects.toMatchObject(rejected);
    expect(script.calls).toHaveLength(1);
  });

  it('are all that can be given again, and problems are told in few words', async () => {
    const { resume } = await pause(['s1', 'act', { pin: 'hunter-22', text: 'now' }]);
    const names = Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`n${at}`, 'x']));
    const { message } = await resume({ ['k'.repeat(100_000)]: names }).catch((error) => error);
    expect(message.length).toBeLessThan(5_000);
    expect(message).toMatch(/and more: 10 are not shown or not looked at\.$/u);
  });

  describe('are all of an argument that can be given again', () => {
    const request = { url: 'https://bank.test/?key=hunter-22#top', pin: 'hunter-22', tags: ['a', 'b'] };
    const KEPT = { s1: { pin: 'hunter-22' } };

    /** A run whose first step waits, as another process resumes it. */
    async function kept(more: object = {}) {
      const inputs = { who: { value: 'ann' }, pin: { value: 'hunter-22' }, account: { value: { pin: 'hunter-22' } } };
      const args = { pin: '${input.account.pin}', text: 'for ${input.who}', request, more: '${input.who}', ...more };
      const plan = { steps: [{ id: 's1', tool: 'act', arguments: args }], inputs };
      const { script, resume: goOn } = await begin(plan, ACTS);
      const resume = (s1: object) => goOn({ s1: { ...KEPT.s1, ...s1 } });
      return { resume, script, last: () => script.calls.at(-1)?.arguments };
    }
    const FULL = { url: request.url, pin: 'hunter-22' };

    it('where an object holds one beside other parts', async () => {
      const { resume, last } = await kept();
      expect((await resume({ request: FULL })).state).toBe('done');
      expect(last()).toEqual({ pin: 'hunter-22', text: 'for ann', request, more: 'ann' });
    });

    it('also where these are written out as they were kept', async () => {
      const { resume, last } = await kept();
      expect((await resume({ request, text: 'for ${input.who}' })).state).toBe('done');
      expect(last()).toMatchObject({ text: 'for ann', request });
    });

    it.each<[string, object]>([
      ['more', { more: 'ben' }],
      ['text', { text: 'for ben' }],
      ['request.url', { request: { ...FULL, url: 'https://evil.test/?key=hunter-22#top' } }],
      ['request.url', { request: { ...FULL, url: 'https://bank.test/?key=hunter-22' } }],
      ['request.url', { request: { ...FULL, url: ['https://bank.test/?key=', '#top'] } }],
      ['request.tags[1]', { request: { ...FULL, tags: ['a', 'c'] } }],
      ['request.tags', { request: { ...FULL, tags: ['a'] } }],
      ['request.to', { request: { ...FULL, to: 'ben' } }],
      ['request', { request: 'https://evil.test' }],
      ['constructor', { constructor: 'x' }],
    ])('and not %s: %j', async (path, s1) => {
      const { resume, script } = await kept();
      const refusal = `arguments: s1.${path} is no secret that was left out; leave it out here`;
      await expect(resume({ request: FULL, ...s1 })).rejects.toMatchObject({
        code: 'invalid_request',
        issues: [refusal],
      });
      expect(script.calls).toHaveLength(1);
    });
  });

  it('of results and items can be given again only where their value was not kept', async () => {
    const steps = [
      { id: 's1', tool: 'login', arguments: { user: '${item}' }, each: '${input.names}' },
      { id: 's2', tool: 'act', arguments: { text: '${item.ticket}', who: '${item.greeting}' }, each: '${s1}' },
      { id: 's3', tool: 'act', arguments: { text: '${s1[0].ticket}', who: '${s1[0].greeting}', of: '${s4}' } },
      { id: 's4', tool: 'act', arguments: {} },
    ];
    const inputs = { names: { value: ['ann', 'ben'] } };
    const { script, stored, resume } = await begin({ steps, inputs }, { login: [LOGGED_IN], act: [waiting] });
    const given = { text: 't', who: 'x', of: 'x' };
    await expect(resume({ s2: { text: 't', who: 'x' }, s3: given })).rejects.toMatchObject({
      issues: ['s2.who', 's3.who', 's3.of'].map((path) => expect.stringContaining(`: ${path} is no`)),
    });
    await resume({ s2: { text: 'ticket-of-ann' } });
    expect(script.calls.at(-1)).toMatchObject({ step: 's2[1]', arguments: { text: 'ticket-of-ann' } });
    expect(await stored()).not.toContain('ticket-of-ann');
  });
});

it('thousands of references to a large value are looked at once, where a run is resumed', async () => {
  const plan = planOf(LOGIN, ['s2', 'act', { text: `${'${s1.greeting}'.repeat(9_900)} hunter-22` }]);
  const login = [done({ ticket: 't', greeting: 'x'.repeat(900_000) })];
  const { resume } = await begin(plan, { login, act: [waiting] });
  await expect(resume({ s2: { text: 'x' } })).rejects.toMatchObject({ code: 'invalid_request' });
});

describe('results of a run', () => {
  it('are left out, with a note, where the run has no more room', async () => {
    const script = createScript({ read: [done('x'.repeat(60)), done('y'.repeat(160)), done('z')] });
    const steps: StepSpec[] = [
      ['s1', 'read'],
      ['s2', 'read', {}, ['s1']],
      ['s3', 'read', { of: '${s1}' }, ['s2']],
      ['s4', 'read', { of: '${s2}' }, ['s3']],
    ];
    const run = await runPlan(planOf(...steps), { run: script.run, maxBytes: 200 });
    expect(statuses(run)).toEqual({ s1: 'done', s2: 'done', s3: 'done', s4: 'failed' });
    expect(run.steps.s4?.failure?.reason).toContain('limit runBytes');
    expect(run.steps.s2).not.toHaveProperty('output');
    expect(run.steps.s2?.notes).toEqual([expect.stringContaining('limit runBytes')]);
  });

  const LOOP = { id: 's1', tool: 'read', arguments: {}, each: '${input.of}' };
  const INPUTS = { of: { value: [1, 2] } };

  it('that are those of a loop take their room once', async () => {
    const script = createScript({ read: [done('x'.repeat(40)), done('y'.repeat(40)), done('z')] });
    const steps = [LOOP, { id: 's2', tool: 'read', arguments: { of: '${s1[1]}' } }];
    const run = await runPlan({ steps, inputs: INPUTS }, { run: script.run, maxBytes: 150, concurrency: 1 });
    expect(run.steps).toMatchObject({ s1: { output: ['x'.repeat(40), 'y'.repeat(40)] }, s2: { output: 'z' } });
    expect(run.state).toBe('done');
  });

  it('that an item of a loop had no room for are missing in that of the loop, which says so', async () => {
    const script = createScript({ read: [done('x'.repeat(60)), done('y'.repeat(60))] });
    const steps = [LOOP, { id: 's2', tool: 'read', arguments: { of: '${s1}' } }];
    const run = await runPlan({ steps, inputs: INPUTS }, { run: script.run, maxBytes: 100, concurrency: 1 });
    expect(run.steps.s1).toMatchObject({
      status: 'done',
      notes: [expect.stringMatching(/^of 1 of 2 items the result/u)],
    });
    expect(run.steps.s1).not.toHaveProperty('output');
    expect(run.steps['s1[0]']).toHaveProperty('output');
    expect(run.steps.s2?.failure?.reason).toContain('limit runBytes');
  });

  it('share their room with the arguments of all steps and items', async () => {
    const { planRuns: store } = await openStore();
    const script = createScript({ read: [done('z')] });
    const inputs = { big: { value: 'y'.repeat(1_000) }, of: { value: Array.from({ length: 100 }, (_, at) => at) } };
    const steps = [
      { id: 's1', tool: 'read', arguments: { at: '${item}', text: '${input.big}' }, each: '${input.of}' },
      { id: 's2', tool: 'read', arguments: { list: Array(50).fill('${input.big}') } },
    ];
    const run = await runPlan(
      { steps, inputs },
      { run: script.run, store, runId: 'r', maxBytes: 10_000, concurrency: 1 },
    );
    expect(script.made()).toEqual(Array.from({ length: 9 }, (_, at) => `s1[${at}]`));
    for (const id of ['s1[9]', 's1[99]', 's2'])
      expect(run.steps[id]).toMatchObject({
        status: 'failed',
        arguments: {},
        failure: { reason: expect.stringContaining('limit runBytes') },
      });
    expect(JSON.stringify(await store.get('r'))?.split('y'.repeat(1_000))).toHaveLength(1 + 1 + 9);
  });

  it('are stored in turns of the event loop of their own, so that other requests go on', async () => {
    const { planRuns: store } = await openStore();
    let [turns, isOver] = [0, false];
    const count = () => {
      turns += 1;
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    const inputs = { of: { value: Array.from({ length: 100 }, (_, at) => at) } };
    await runPlan({ steps: [LOOP], inputs }, { run: createScript({ read: [done('z')] }).run, store });
    isOver = true;
    expect(turns).toBeGreaterThan(300);
  });

  it('keep their text where images have no more room', async () => {
    const image = { type: 'image' as const, data: 'A'.repeat(300), mimeType: 'image/png' };
    const script = createScript({ read: [{ ok: true, output: 'z', content: [image], notes: [], milliseconds: 1 }] });
    const run = await runPlan(planOf(['s1', 'read'], ['s2', 'read', { of: '${s1}' }]), {
      run: script.run,
      maxBytes: 200,
    });
    expect(run.steps).toMatchObject({
      s1: { output: 'z', notes: [expect.stringContaining('images, audio and files were left out')] },
      s2: { status: 'done', arguments: { of: 'z' } },
    });
    expect(run.steps.s1).not.toHaveProperty('content');
  });

  it('that a dry run shows have the same limit', async () => {
    const steps = Array.from({ length: 100 }, (_, at) => ({
      id: `s${at}`,
      tool: 'read',
      arguments: { of: '${input.big}' },
    }));
    const plan = { steps, inputs: { big: { value: 'y'.repeat(1_000) } } };
    const run = await runPlan(plan, { run: createScript({}).run, dryRun: true, maxBytes: 10_000 });
    expect(JSON.stringify(run.steps).split('y'.repeat(1_000))).toHaveLength(1 + 9);
    expect(run.steps.s99?.notes).toEqual([expect.stringContaining('limit runBytes')]);
  });
});
