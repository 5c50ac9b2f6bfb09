import { expect, it } from 'vitest';
import { parseRetention } from '../../src/agents/quotas.js';
import { setUp } from './setup.js';

const DAY_MS = 86_400_000;

async function remaining(retention: Parameters<typeof parseRetention>[0], days: number) {
  const { router, store, pass } = await setUp({ options: { retention: parseRetention(retention) } });
  const { id } = await router.createSession({ user: 'ann' });
  await router.enable(id, { names: ['deploy'] });
  await router.call(id, { tool: 'deploy', arguments: {} });
  const at = '2026-01-01T12:00:00.000Z';
  await store.planRuns.create({ id: 'r', plan: {}, state: 'done', steps: {}, createdAt: at, updatedAt: at });
  const answer = { owner: 'ann', key: 'k', requestHash: 'h', createdAt: at, until: at };
  await store.answers.claim(answer, 9_999);
  await router.sweep();
  pass(days * DAY_MS);
  await router.sweep();
  const limit = 100;
  return {
    audit: (await store.journal.audit({ limit })).filter((entry) => entry.at === at).length,
    telemetry: (await store.journal.telemetry({ limit })).filter((event) => event.at === at).length,
    approvals: (await store.approvals.ids({ limit })).length,
    runs: (await store.planRuns.list({ limit })).length,
    answers: (await store.answers.claim(answer, 9_999)) === 'taken' ? 0 : 1,
  };
}

const all = { audit: 4, telemetry: 2, approvals: 1, runs: 1, answers: 0 };

it.each([
  ['23 hours keep all', {}, 23 / 24, { ...all, answers: 1 }],
  ['29 days end answers under keys', {}, 29, all],
  ['31 days end runs', {}, 31, { ...all, runs: 0 }],
  ['91 days end approvals, too', {}, 91, { ...all, runs: 0, approvals: 0 }],
  ['121 days end telemetry, too', {}, 121, { ...all, runs: 0, approvals: 0, telemetry: 0 }],
  ['366 days end all', {}, 366, { audit: 0, telemetry: 0, approvals: 0, runs: 0, answers: 0 }],
  ['other days are taken', { audit: 2, runs: 400 }, 3, { ...all, audit: 0 }],
  ['forever is for ever', { audit: 'forever', runs: 'forever' }, 5_000, { ...all, telemetry: 0, approvals: 0 }],
])('the sweep removes what is old: %s', async (_, retention, days, expected) => {
  expect(await remaining(retention, days)).toEqual(expected);
});

it('days that are none are refused by name', () => {
  expect(() => parseRetention({ audit: 0 })).toThrow(expect.objectContaining({ code: 'invalid_option' }));
  expect(() => parseRetention({ audits: 3 })).toThrow(/audits/u);
});
