/** A client whose person decides on the risky calls of their own agent. */
import { describe, expect, it } from 'vitest';
import { type Answer, connect, createWorld } from './setup.js';

const ASKED = { path: 'old.txt' };

async function start(answer: Answer | undefined, { self = 'ask' as 'ask' | 'off', asksPerson = true } = {}) {
  const world = await createWorld({ policy: { approvals: { self } } });
  const questions: string[] = [];
  const asked = (params: Parameters<Answer>[0]) => {
    questions.push(params.message);
    return answer?.(params) ?? { action: 'cancel' as const };
  };
  const told: object[] = [];
  const options = { asksPerson, onClient: (client: object) => told.push(client), ...(answer ? { answer: asked } : {}) };
  const connected = await connect(world, { user: 'ann' }, options);
  await connected.ask('tool_enable', { names: ['file_delete'] });
  return { ...world, ...connected, questions, told };
}

describe('a call that needs an approval', () => {
  it.each<[string, (path: string) => [string, object]]>([
    ['by its name', (path) => ['file_delete', { path }]],
    ['by tool_call', (path) => ['tool_call', { tool: 'file_delete', arguments: { path } }]],
  ])('runs once when the person says yes, and the audit says who that was: %s', async (_, callOf) => {
    const { ask, questions, agents, runs, told } = await start(() => ({ action: 'accept', content: {} }));
    expect(await ask(...callOf('old.txt'))).toEqual({ gone: true });
    expect(questions).toEqual([
      'Allow file_delete with {"path":"old.txt"}? file_delete has high risk.\nruns: a function of this server (test), high risk',
    ]);
    expect(runs).toEqual(['file_delete old.txt']);
    const [granted] = await agents.router.audit({ event: 'approval_granted' });
    expect(granted).toMatchObject({ user: 'ann', reason: expect.stringContaining('asker themselves, by elicitation') });
    expect(told).toEqual([{ canAskPerson: true }]);
    // Each call is asked for by itself.
    await ask(...callOf('old.txt'));
    expect(questions).toHaveLength(2);
  });

  it('is refused when the person says no', async () => {
    const { ask, runs } = await start(() => ({ action: 'decline' }));
    expect(await ask('file_delete', ASKED)).toMatchObject({
      code: 'approval_refused',
      reason: expect.stringContaining('said no'),
    });
    expect(runs).toEqual([]);
  });

  it('waits when the question is dismissed or fails, and is asked again with the next call', async () => {
    const answers: Answer[] = [
      () => ({ action: 'cancel' }),
      () => Promise.reject(new Error('no window')),
      () => ({ action: 'accept', content: {} }),
    ];
    const { ask, runs, log } = await start((question) => answers.shift()?.(question) ?? { action: 'cancel' });
    expect(await ask('file_delete', ASKED)).toMatchObject({ code: 'needs_approval' });
    expect(await ask('file_delete', ASKED)).toMatchObject({ code: 'approval_pending' });
    expect(log.text()).toContain('no window');
    expect(runs).toEqual([]);
    expect(await ask('file_delete', ASKED)).toEqual({ gone: true });
  });

  it('shows what is hidden, and asks nothing that is too long to read', async () => {
    const { ask, questions } = await start(() => ({ action: 'accept', content: {} }));
    await ask('file_delete', { path: 'a\u202Etxt.exe\u200B\u3164' });
    expect(questions[0]).toContain('"a\\u{202e}txt.exe\\u{200b}\\u{3164}"');
    expect(await ask('file_delete', { path: 'x'.repeat(5_000) })).toMatchObject({ code: 'needs_approval' });
    expect(questions).toHaveLength(1);
  });

  const yes: Answer = () => ({ action: 'accept', content: {} });
  it.each<[string, Answer | undefined, object]>([
    ['the policy does not say so', yes, { self: 'off' }],
    ['the client is no program of the person, as over HTTP', yes, { asksPerson: false }],
    ['the client can not ask', undefined, {}],
  ])('is not asked about where %s', async (_, answer, how) => {
    const { ask, questions, runs } = await start(answer, how);
    expect(await ask('file_delete', ASKED)).toMatchObject({ code: 'needs_approval' });
    expect([questions, runs]).toEqual([[], []]);
  });
});
