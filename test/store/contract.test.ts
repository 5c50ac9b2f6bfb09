import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, it } from '@jest/globals';
import { openStore } from '../../src/store/open-store.js';
import { describeStore } from './contract.js';
import { type PostgresServer, startPostgres, whyNoPostgres } from './postgres.js';

const folder = mkdtempSync(join(tmpdir(), 'winnow-store-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let files = 0;
describeStore('in memory', () => openStore({ memory: true }));
describeStore('in SQLite', () => openStore({ file: join(folder, `${++files}.db`) }));

const reason = whyNoPostgres();
if (reason !== undefined) {
  it.skip(`in PostgreSQL is not tested: ${reason}`, () => undefined);
} else {
  describe('with a server', () => {
    let server: PostgresServer;
    beforeAll(async () => {
      server = await startPostgres();
    }, 60_000);
    afterAll(() => server.stop());
    describeStore('in PostgreSQL', async () => openStore({ url: await server.createDatabase() }));
  });
}
