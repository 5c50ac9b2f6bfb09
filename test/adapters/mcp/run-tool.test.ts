/** `run` to clients of both kinds: a plan step by step under the policy, paused by an approval, refused as a whole. */
import { describe, expect, it } from 'vitest';
import { runTool } from '../../../src/adapters/mcp/run-tool.js';
import { connect, createWorld, openBy } from './setup.js';

const step = (id: string, tool: string, given: object = {}, dependsOn: string[] = []) => ({
  ...{ id, tool, arguments: given, dependsOn },
});
const PLAN = {
  steps: [step('s1', 'file_read', { path: 'a' }), step('s2', 'file_delete', { path: '${s1.text}' }, ['s1'])],
};

describe.each(['2026-07-28 on HTTP', 'sessions on stdio'] as const)('run, for clients with %s', (how) => {
  const open = () => openBy(how, { hasRuns: true });

  it('runs what needs no approval, pauses at what does, and goes on when it is granted', async () => {
    const { own, names, runs, agents } = await open();
    expect(await names()).toContain('run');
    const told: (string | undefined)[] = [];
    const onprogress = ({ message }: { message?: string | undefined }) => told.push(message);
    const paused = await own('run', { plan: PLAN }, undefined, { onprogress });
    expect(paused).toMatchObject({
      state: 'paused',
      steps: [
        { id: 's1', tool: 'file_read', status: 'done', output: { text: 'hello' } },
        { id: 's2', status: 'needs_approval', arguments: { path: 'hello' }, approval: expect.any(String) },
      ],
      next: expect.stringContaining('call run with {"resume"'),
    });
    expect(told).toEqual(expect.arrayContaining(['s1: running', 's1: done', 's2: needs_approval']));
    const { run, steps } = paused;
    expect(await own('run', { resume: 'nothing' })).toMatchObject({
      code: 'not_found',
      reason: expect.stringContaining('no plan run "nothing"'),
    });
    await agents.router.approvals.grant(steps[1].approval, { by: { user: 'bob', roles: ['operator'] } });
    expect(await own('run', { resume: run })).toMatchObject({ run, state: 'done' });
    expect(runs).toEqual(['file_read a', 'file_delete hello']);
  });

  it.each([
    ['a tool that does not exist', [step('s1', 'file_read', { path: 'a' }), step('s2', 'nothing')], 'nothing'],
    ['a tool that policy denies', [step('s1', 'file_read', { path: 'a' }), step('s2', 'secret_door')], 'secret_door'],
    ["another user's tool", [step('s1', 'diary')], 'diary'],
  ])('begins nothing of a plan with %s', async (_name, steps, name) => {
    const { ask, runs } = await open();
    for (const dryRun of [true, false])
      expect(await ask('run', { plan: { steps }, dryRun })).toMatchObject({
        ok: false,
        code: 'unknown_tool',
        issues: [expect.stringContaining(name)],
      });
    expect(runs).toEqual([]);
  });

  it('shows the calls of a dry run and makes none', async () => {
    const { ask, runs } = await open();
    expect(await ask('run', { plan: PLAN, dryRun: true })).toMatchObject({
      state: 'planned',
      steps: [{ status: 'planned', arguments: { path: 'a' } }, { status: 'planned' }],
    });
    expect(runs).toEqual([]);
  });

  it.each<[string, object, string]>([
    ['neither a plan nor a run', {}, 'invalid_request'],
    ['both', { plan: PLAN, resume: 'a' }, 'invalid_request'],
    ['a dry run that goes on', { resume: 'a', dryRun: true }, 'invalid_request'],
    ['a run that does not exist', { resume: '7d10a8ca-5b74-47f8-9f90-79ee5f19f720' }, 'not_found'],
    ['a plan in a circle', { plan: { steps: [step('s1', 'file_read', {}, ['s1'])] } }, 'invalid_request'],
  ])('refuses %s', async (_name, given, code) => {
    const { ask } = await open();
    expect(await ask('run', given)).toMatchObject({ ok: false, code });
  });
});

it('that was cancelled goes on in its session, which stays for it', async () => {
  const { router, plans } = (await createWorld({ hasRuns: true })).agents;
  const { id: session } = await router.createSession({ user: 'ann' });
  const call = { session, caller: undefined, signal: AbortSignal.abort(), onProgress: () => {} };
  const callTool = () => Promise.reject(new Error('not asked'));
  const answer = await runTool(router, plans).answer(
    { plan: { steps: [step('s1', 'file_list')] } },
    { ...call, callTool },
  );
  expect(answer).toMatchObject({
    content: { state: 'cancelled', next: expect.stringContaining('in the same session') },
    comesBack: true,
  });
});

it('of another user can not be resumed, and looks like none', async () => {
  const world = await createWorld({ hasRuns: true });
  const ann = await connect(world);
  const { run } = await ann.ask('run', { plan: PLAN });
  const bob = await connect(world, { user: 'bob' });
  const words = async (id: string) => JSON.stringify(await bob.ask('run', { resume: id })).replaceAll(id, '');
  expect(await words(run)).toBe(await words('7d10a8ca-5b74-47f8-9f90-79ee5f19f720'));
});
