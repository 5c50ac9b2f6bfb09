import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { openStore } from '../../../src/agents/store/open-store.js';
import { describeStore } from './contract.js';
import { approval, at } from './records.js';

const folder = mkdtempSync(join(tmpdir(), 'winnow-store-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let files = 0;
describeStore('in memory', () => openStore());
describeStore('in SQLite', () => openStore({ file: join(folder, `${++files}.db`) }));

it('a store of the first version is read, and keeps from then on what came later', async () => {
  const file = join(folder, 'before.db');
  const before = await openStore({ file });
  await before.approvals.request(approval('old'));
  await before.journal.append({ audit: [{ at: at(0), event: 'call', outcome: 'allowed' }] });
  const run = { id: 'run', user: 'ann', state: 'done', createdAt: at(0), updatedAt: at(0) };
  await before.planRuns.create({ ...run, plan: { goal: 'é' }, steps: { s1: 'é', s2: 1 } });
  const bytes = await before.planRuns.bytesOf('ann');
  await before.plans.put({ owner: 'ann', name: 'p', content: 1, updatedAt: at(0) });
  await before.close();
  const { default: Database } = await import('libsql');
  const database = new Database(file);
  for (const table of ['approvals', 'audit']) database.exec(`alter table ${table} drop column sources`);
  const indexes = ['approvals_granted', 'approvals_listed', 'approvals_user', 'approvals_last', 'plan_runs_listed'];
  for (const index of [...indexes, 'plan_runs_user', 'documents_versions']) database.exec(`drop index ${index}`);
  for (const column of ['plan_runs drop column summary', 'plan_runs drop column bytes'])
    database.exec(`alter table ${column}`);
  for (const column of ['summary', 'version']) database.exec(`alter table documents drop column ${column}`);
  for (const column of ['runs', 'granted', 'granted_hash', 'plan'])
    database.exec(`alter table approvals drop column ${column}`);
  database.exec('drop index sessions_user');
  database.exec('drop table answers');
  database.exec("delete from kysely_migration where name > '0001-first'");
  database.close();

  const store = await openStore({ file });
  const runs = { where: 'nowhere', risk: 'high' };
  const granted = { arguments: { to: 'live' }, argumentsHash: 'live' };
  const told = approval('new', {
    tool: 'other',
    sources: { to: { source: 'request' } },
    runs,
    granted,
    plan: { steps: [] },
  });
  await store.approvals.request(told);
  expect(await store.approvals.get('old')).toEqual(approval('old'));
  expect(await store.approvals.get('new')).toEqual(told);
  expect(await store.planRuns.list({ limit: 9 })).toEqual([run]);
  expect(await store.planRuns.bytesOf('ann')).toBe(bytes);
  const documents = await store.plans.list();
  expect(documents).toEqual([{ owner: 'ann', name: 'p', content: 1, updatedAt: at(0) }]);
  expect(await store.plans.list(undefined, documents)).toBe(documents);
  expect(await store.journal.audit({ limit: 9 })).toEqual([{ id: '1', at: at(0), event: 'call', outcome: 'allowed' }]);
  await store.close();
});
