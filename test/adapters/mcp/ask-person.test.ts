/** A client of either era whose person decides on the risky calls of their own agent. */
import { describe, expect, it } from 'vitest';
import { type Answer, type How, openBy } from './setup.js';

const yes: Answer = () => ({ action: 'accept', content: {} });

async function start(how: How, answer: Answer | undefined, self: 'ask' | 'off' = 'ask') {
  const questions: string[] = [];
  const asked: Answer = (question) => {
    questions.push(question.message);
    return answer?.(question) ?? { action: 'cancel' };
  };
  const opened = await openBy(how, { policy: { approvals: { self } } }, answer && asked);
  await opened.own('tool_enable', { names: ['file_delete'] });
  const remove = (path = 'old.txt') => opened.use('file_delete', { path });
  return { ...opened, remove, questions };
}

describe.each(['sessions on stdio', '2026-07-28 on stdio'] as const)('a call that needs an approval, by %s', (how) => {
  it('runs once when the person says yes, and the audit says who that was', async () => {
    const { remove, own, questions, agents, runs, told } = await start(how, yes);
    expect(await remove()).toEqual({ gone: true });
    expect(questions).toEqual([
      'Allow file_delete with {"path":"old.txt"}? file_delete has high risk.\nruns: a function of this server (test), high risk',
    ]);
    expect(runs).toEqual(['file_delete old.txt']);
    const [granted] = await agents.router.audit({ event: 'approval_granted' });
    expect(granted).toMatchObject({ user: 'ann', reason: expect.stringContaining('asker themselves, by elicitation') });
    expect(told).toEqual([{ canAskPerson: true }]);
    // Each call is asked for by itself, also the same one.
    await own('tool_call', { tool: 'file_delete', arguments: { path: 'old.txt' } });
    await remove('b');
    expect(questions.slice(1)).toEqual([
      expect.stringMatching(/^Allow file_delete with \{"path":"old.txt"\}\?/u),
      expect.stringMatching(/^Allow file_delete with \{"path":"b"\}\?/u),
    ]);
    expect(runs).toEqual(['file_delete old.txt', 'file_delete old.txt', 'file_delete b']);
  });

  it('is refused when the person says no', async () => {
    const { remove, runs } = await start(how, () => ({ action: 'decline' }));
    expect(await remove()).toMatchObject({ code: 'approval_refused', reason: expect.stringContaining('said no') });
    expect(runs).toEqual([]);
  });

  it('waits when the question is dismissed, and is asked again with the next call', async () => {
    const answers: Answer[] = [() => ({ action: 'cancel' }), yes];
    const { remove, runs } = await start(how, (question) => answers.shift()?.(question) ?? { action: 'cancel' });
    const code = how === 'sessions on stdio' ? 'needs_approval' : 'approval_pending';
    expect(await remove()).toMatchObject({ code });
    expect(runs).toEqual([]);
    expect(await remove()).toEqual({ gone: true });
  });

  it('shows what is hidden, and asks nothing that is too long to read', async () => {
    const { remove, questions, runs } = await start(how, () => ({ action: 'decline' }));
    await remove('a\u202Etxt.exe\u200B\u3164');
    expect(questions[0]).toContain('"a\\u{202e}txt.exe\\u{200b}\\u{3164}"');
    expect(await remove('x'.repeat(5_000))).toMatchObject({ code: 'needs_approval' });
    expect(questions).toHaveLength(1);
    expect(runs).toEqual([]);
  });

  it.each<[string, How, Answer | undefined, 'ask' | 'off']>([
    ['the policy does not say so', how, yes, 'off'],
    [
      'the client is no program of the person, as over HTTP',
      how === 'sessions on stdio' ? 'sessions on HTTP' : '2026-07-28 on HTTP',
      yes,
      'ask',
    ],
    ['the client can not ask', how, undefined, 'ask'],
  ])('is not asked about where %s', async (_, by, answer, self) => {
    const { remove, questions, runs } = await start(by, answer, self);
    expect(await remove()).toMatchObject({ code: 'needs_approval' });
    expect([questions, runs]).toEqual([[], []]);
  });
});

it('a client that fails to ask is written down, and its call waits', async () => {
  const { remove, runs, log } = await start('sessions on stdio', () => Promise.reject(new Error('no window')));
  expect(await remove()).toMatchObject({ code: 'needs_approval' });
  expect(log.text()).toContain('no window');
  expect(runs).toEqual([]);
});
