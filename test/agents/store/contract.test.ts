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
  await before.close();
  const { default: Database } = await import('libsql');
  const database = new Database(file);
  for (const table of ['approvals', 'audit']) database.exec(`alter table ${table} drop column sources`);
  database.exec('drop index approvals_granted');
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
  expect(await store.journal.audit({ limit: 9 })).toEqual([{ id: '1', at: at(0), event: 'call', outcome: 'allowed' }]);
  await store.close();
});
