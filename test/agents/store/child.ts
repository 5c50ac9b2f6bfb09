/** Another process on the same store, for the tests that need one: `child.ts TASK PLACE [parameters]`. */
import { writeSync } from 'node:fs';
import { openStore } from '../../../src/agents/store/open-store.js';
import type { Store } from '../../../src/agents/store/sql/sql-store.js';
import { approval } from './records.js';

const [task = '', place = '', ...parameters] = process.argv.slice(2);
const at = () => new Date().toISOString();
/** At once: what is in a buffer when the process is killed was not said. */
const say = (words: unknown) => writeSync(1, `${JSON.stringify(words)}\n`);

const TASKS: Readonly<Record<string, (store: Store) => Promise<void>>> = {
  /** Writes until it is killed; each line says what is then in the store. */
  async write(store) {
    const [session = '', first = '0'] = parameters;
    for (let number = Number(first); ; number++) {
      const begun = await store.sessions.beginTurn(session, at());
      const tool = `tool-${number}`;
      await store.sessions.enable(session, {
        enablements: [{ tool, via: 'asked', untilTurn: 1_000_000, once: false }],
        limit: 1_000_000,
        at: at(),
      });
      await store.journal.append({
        audit: [{ at: at(), event: 'call', outcome: 'allowed', session, tool }],
        telemetry: [{ at: at(), type: 'call', session, tool, content: { number } }],
      });
      await store.approvals.request(approval(tool, { session, tool, requestedAt: at(), expiresAt: '9999-01-01' }));
      say({ number, turn: begun?.turn });
    }
  },

  /** Uses each of the approvals as fast as it can, and begins turns between. */
  async race(store) {
    const [session = '', count = '0'] = parameters;
    say('ready');
    await new Promise((resolve) => process.stdin.once('data', resolve));
    const won: string[] = [];
    for (let number = 0; number < Number(count); number++) {
      if (await store.approvals.use(`approval-${number}`, at())) won.push(`approval-${number}`);
      await store.sessions.beginTurn(session, at());
    }
    say(won);
    await store.close();
    process.stdin.destroy();
  },

  async open(store) {
    say(await store.sessions.get('nobody').then(() => 'open'));
    await store.close();
  },
};

const store = await openStore(place.includes('://') ? { url: place } : { file: place });
await TASKS[task]?.(store);
