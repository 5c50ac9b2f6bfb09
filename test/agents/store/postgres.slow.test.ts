/** PostgreSQL under attack: connections that are killed, rows that are stuck, and two who do the same at once. */
import { connect, createServer, type Socket } from 'node:net';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openStore } from '../../../src/agents/store/open-store.js';
import type { Store } from '../../../src/agents/store/sql/sql-store.js';
import { describePostgres } from './postgres.js';
import { approval, at, session } from './records.js';

const BUSY_MS = 1_000;
const times = <T>(count: number, make: (place: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, place) => make(place)));
const enabling = (tool: string, more: { once?: boolean } = {}) => ({
  tool,
  via: 'asked',
  untilTurn: 9,
  once: false,
  ...more,
});

/** Passes all on to a port of this machine; while it is not open, what is sent goes nowhere, and no connection ends. */
async function startNetwork(to: number) {
  const sockets: Socket[] = [];
  const server = createServer((from) => {
    const onward = connect(to, '127.0.0.1');
    sockets.push(from, onward);
    for (const [one, other] of [
      [from, onward],
      [onward, from],
    ] as const) {
      one.on('data', (data) => network.isOpen && other.write(data));
      one.on('close', () => other.destroy());
      one.on('error', () => undefined);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const network = {
    isOpen: true,
    port: Object(server.address()).port as number,
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
  return network;
}

describePostgres('a store in PostgreSQL', (server) => {
  let url: string;
  /** As two processes have them. */
  let [one, other]: Store[] = [];
  const both = () => [one, other].flatMap((store) => store ?? []);
  const first = () => both()[0] as Store;
  beforeAll(async () => {
    url = await server().createDatabase();
    one = await openStore({ url }, { busyTimeoutMs: BUSY_MS });
    other = await openStore({ url }, { busyTimeoutMs: BUSY_MS });
  }, 60_000);
  afterAll(async () => {
    for (const store of both()) await store.close();
  });

  const connectClient = async () => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    return client;
  };

  it('lives on when its connections are killed in the middle of their queries', async () => {
    await first().sessions.create(session('killed'));
    const killer = await connectClient();
    let isOver = false;
    const killing = (async () => {
      while (!isOver)
        await killer.query('select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid()');
    })();
    const asked = times(200, () =>
      first()
        .sessions.get('killed')
        .catch((error: Error) => error),
    );
    const answers = await asked;
    isOver = true;
    await killing;
    await killer.end();
    for (const answer of answers.filter((one) => one instanceof Error))
      expect(answer).toMatchObject({ code: 'store_failed' });
    // Each connection that was killed while it was idle fails once more.
    const again = () =>
      first()
        .sessions.get('killed')
        .catch((error: Error) => error);
    let found = await again();
    for (let left = 30; found instanceof Error && left > 0; left--) found = await again();
    expect(found).toEqual(session('killed'));
  });

  it('gives up a connection on which nothing comes, and goes on when the network does', async () => {
    const network = await startNetwork(Number(new URL(url).port));
    const away = await openStore({ url: url.replace(/:\d+\//u, `:${network.port}/`) }, { busyTimeoutMs: 200 });
    await away.sessions.create(session('away'));
    network.isOpen = false;
    await expect(away.sessions.get('away')).rejects.toMatchObject({ code: 'store_failed' });
    network.isOpen = true;
    expect(await away.sessions.get('away')).toEqual(session('away'));
    await away.close();
    network.close();
  });

  it('keeps others from waiting for a row that nobody gives back', async () => {
    await first().sessions.create(session('stuck'));
    await first().sessions.create(session('free'));
    const holder = await connectClient();
    await holder.query("begin; update sessions set turn = turn where id = 'stuck'");
    // As many as one user may have under way.
    const waiting = times(16, () =>
      first()
        .sessions.beginTurn('stuck', at(1))
        .catch((error: Error) => error),
    );
    expect(
      await first()
        .sessions.beginTurn('free', at(1))
        .catch(() => undefined),
    ).toMatchObject({ turn: 2 });
    for (const answer of await waiting) expect(answer).toMatchObject({ code: 'store_failed' });
    await holder.end();
    expect(await first().sessions.beginTurn('stuck', at(2))).toMatchObject({ turn: 2 });
  });

  it('writes and looks up texts with a NUL, which the database does not have', async () => {
    await first().journal.append({
      audit: [{ at: at(1), event: 'call', outcome: 'failed', reason: 'bad \0 thing' }],
    });
    expect(await first().journal.audit({ session: 'no\0such', limit: 9 })).toEqual([]);
    expect(await first().journal.audit({ event: 'call', limit: 9 })).toMatchObject([{ reason: 'bad \ufffd thing' }]);
    expect(await first().sessions.get('no\0such')).toBeUndefined();
    expect(await first().sessions.disable('killed', ['x\0'])).toEqual([]);
  });

  it('keeps a limit of open sessions and of pending approvals, however many ask at once', async () => {
    const opened = await times(24, (place) =>
      (both()[place % 2] as Store).sessions.create(session(`quota-${place}`, { user: 'mal' }), 5),
    );
    expect(opened.filter(Boolean)).toHaveLength(5);
    const open = (await first().sessions.list({ user: 'mal', limit: 99 })).map(({ id }) => id);
    const asked = await times(24, (place) => {
      const more = { user: 'mal', session: open[place % open.length] ?? '', argumentsHash: `hash-${place}` };
      return (both()[place % 2] as Store).approvals.request(approval(`quota-${place}`, more), 5);
    });
    expect(asked.filter(Boolean)).toHaveLength(5);
  });

  it('loses no call that is counted while a tool is enabled, and never waits for itself', async () => {
    await first().sessions.create(session('counted'));
    const enable = (store: Store, tools: string[]) =>
      store.sessions.enable('counted', { enablements: tools.map((tool) => enabling(tool)), limit: 9, at: at(1) });
    await enable(first(), ['a', 'b']);
    const counts = times(100, async (place) => {
      if (place % 2 === 0) await enable(both()[1] as Store, place % 4 === 0 ? ['a', 'b'] : ['b', 'a']);
      return first().sessions.countCall('counted', 'a');
    });
    const counted = (await counts).filter(Boolean).length;
    expect(await first().sessions.enablements('counted')).toMatchObject([{ tool: 'a', calls: counted }, { tool: 'b' }]);
    const ends = times<unknown>(100, (place) =>
      place % 2 === 0 ? enable(first(), ['a', 'b']) : (both()[1] as Store).sessions.disable('counted', ['b', 'a']),
    );
    await expect(ends).resolves.toHaveLength(100);
  });

  it('takes back for good: what is enabled once at the same moment is enabled once', async () => {
    for (let round = 0; round < 40; round++) {
      const id = `back-${round}`;
      await first().sessions.create(session(id));
      const enable = (once: boolean) =>
        first().sessions.enable(id, { enablements: [enabling('x', { once })], limit: 9, at: at(1) });
      await enable(false);
      const [ended] = await Promise.all([(both()[1] as Store).sessions.disable(id, ['x']), enable(true)]);
      const left = await first().sessions.enablements(id);
      if (ended.length === 1) expect(left.filter(({ once }) => !once)).toEqual([]);
    }
  });
});
