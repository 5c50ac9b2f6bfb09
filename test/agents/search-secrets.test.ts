import { expect, it } from 'vitest';
import { setUp } from './setup.js';

it('a key in a query is kept nowhere, and the audit has the beginning of a long one', async () => {
  const { router, store } = await setUp();
  const { id } = await router.createSession({ user: 'ann' });
  const query = `sign in with sk-abcdefghijklmnop ${'and on '.repeat(100)}`;
  expect((await router.search(id, { query })).query).toBe(query.trim());
  const [entry] = await store.journal.audit({ event: 'search', limit: 1 });
  const [event] = await store.journal.telemetry({ type: 'search', limit: 1 });
  expect(JSON.stringify([entry, event])).not.toContain('sk-abc');
  expect(entry?.reason).toMatch(/^sign in with \[masked\] and on/u);
  expect(entry?.reason?.length).toBe(200);
});
