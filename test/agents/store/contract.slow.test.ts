import { openStore } from '../../../src/agents/store/open-store.js';
import { describeStore } from './contract.js';
import { describePostgres } from './postgres.js';

describePostgres('in PostgreSQL', (server) => {
  describeStore('in PostgreSQL', async () => openStore({ url: await server().createDatabase() }));
});
