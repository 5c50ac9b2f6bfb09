import { afterAll, beforeAll, describe, it } from '@jest/globals';
import { openStore } from '../../../src/agents/store/open-store.js';
import { describeStore } from './contract.js';
import { type PostgresServer, startPostgres, whyNoPostgres } from './postgres.js';

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
