/** What a store promises when processes die or meet. About half a second for each of the fifty deaths. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { openStore } from '../../../src/agents/store/open-store.js';
import type { Store } from '../../../src/agents/store/sql/sql-store.js';
import { describePostgres } from './postgres.js';
import { approval, session } from './records.js';

const folder = mkdtempSync(join(tmpdir(), 'winnow-processes-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const LOADER = ['--import', './test/support/typescript-loader.mjs'];
const start = (task: string, place: string, ...parameters: string[]) =>
  spawn(process.execPath, [...LOADER, 'test/agents/store/child.ts', task, place, ...parameters], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
const linesOf = (child: ChildProcess) => createInterface({ input: child.stdout ?? process.stdin });

describe('a process that is killed in the middle of writes', () => {
  const DEATHS = 50;

  it(`has lost nothing that it acknowledged, ${DEATHS} times`, async () => {
    const file = join(folder, 'killed.db');
    let store = await openStore({ file });
    await store.sessions.create(session('s', { activeAt: '2026-01-01' }));
    let next = 0;
    let turn = 1;
    for (let death = 0; death < DEATHS; death++) {
      await store.close();
      const child = start('write', file, 's', String(next));
      // A different number of writes each time, so that it dies at different places.
      const enough = 1 + ((death * 7) % 11);
      let lines = 0;
      for await (const line of linesOf(child)) {
        const said: { number: number; turn: number } = JSON.parse(line);
        next = said.number + 1;
        turn = said.turn;
        lines += 1;
        if (lines === enough) child.kill('SIGKILL');
      }
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      expect(child.signalCode).toBe('SIGKILL');
      store = await openStore({ file });
      const last = `tool-${next - 1}`;
      expect((await store.sessions.get('s'))?.turn).toBeGreaterThanOrEqual(turn);
      expect(await store.approvals.get(last)).toBeDefined();
    }
    const tools = new Set((await store.journal.audit({ session: 's', limit: 100_000 })).map(({ tool }) => tool));
    const events = new Set((await store.journal.telemetry({ limit: 100_000 })).map(({ tool }) => tool));
    const enabled = new Set((await store.sessions.enablements('s')).map(({ tool }) => tool));
    const approvals = await store.approvals.ids({ limit: 100_000 });
    const asked = new Set(await Promise.all(approvals.map(async (id) => (await store.approvals.get(id))?.tool)));
    const all = Array.from({ length: next }, (_, number) => `tool-${number}`);
    for (const kept of [tools, events, enabled, asked]) expect(all.filter((tool) => !kept.has(tool))).toEqual([]);
    expect(next).toBeGreaterThan(DEATHS);
    await store.close();
  }, 300_000);
});

function describeRace(name: string, place: () => Promise<string>): void {
  it(`use each approval once and lose no turn, ${name}`, async () => {
    const COUNT = 60;
    const where = await place();
    const store = await openAt(where);
    await store.sessions.create(session('s'));
    for (let number = 0; number < COUNT; number++) {
      const id = `approval-${number}`;
      await store.approvals.request(approval(id, { session: 's', argumentsHash: id, expiresAt: '9999-01-01' }));
      const decision = {
        grant: 'once',
        decidedBy: 'bob',
        decidedAt: '2026',
        expiresAt: '9999-01-01',
        reason: '',
      } as const;
      expect(await store.approvals.decide(id, { ...decision, state: 'granted' })).toBe(true);
    }
    const children = [1, 2].map(() => start('race', where, 's', String(COUNT)));
    const said = await Promise.all(
      children.map(async (child) => {
        const lines = linesOf(child)[Symbol.asyncIterator]();
        await lines.next();
        return lines;
      }),
    );
    for (const child of children) child.stdin?.write('go\n');
    const won = await Promise.all(said.map(async (lines): Promise<string[]> => JSON.parse((await lines.next()).value)));
    expect(won.flat().sort()).toEqual(Array.from({ length: COUNT }, (_, number) => `approval-${number}`).sort());
    expect((await store.sessions.get('s'))?.turn).toBe(1 + 2 * COUNT);
    await store.close();
  }, 60_000);
}

function openAt(place: string): Promise<Store> {
  return openStore(place.includes('://') ? { url: place } : { file: place });
}

describe('two processes', () => {
  describeRace('in SQLite', async () => join(folder, 'race.db'));

  it('do not hold each other up where they are one: two stores on one file', async () => {
    const file = join(folder, 'one.db');
    const [one, other] = [await openStore({ file }), await openStore({ file })];
    await one.sessions.create(session('s'));
    const turns = await Promise.all(
      Array.from({ length: 40 }, (_, index) => (index % 2 ? one : other).sessions.beginTurn('s', '2026')),
    );
    expect(new Set(turns.map((begun) => begun?.turn)).size).toBe(40);
    await Promise.all([one.close(), other.close()]);
  });

  it('that open a new store at once make its tables once', async () => {
    const file = join(folder, 'new.db');
    const codes = await Promise.all([1, 2, 3].map(async () => (await once(start('open', file), 'exit'))[0]));
    expect(codes).toEqual([0, 0, 0]);
  }, 60_000);

  describePostgres('with a server', (server) => describeRace('in PostgreSQL', () => server().createDatabase()));
});

describe('a store', () => {
  it.each([
    ['a folder that is not there', { file: join(folder, 'none', 'x.db') }, 'store_failed', 'folder'],
    ['a file that is no database', { file: 'package.json' }, 'store_failed', 'package.json'],
    ['a server that is not there', { url: 'postgres://nobody@127.0.0.1:1/none' }, 'store_failed', 'ECONNREFUSED'],
    ['a URL of something else', { url: 'mysql://x' }, 'invalid_option', 'postgres://'],
    ['no path', { file: '' }, 'invalid_option', 'path'],
  ])('says what is wrong with %s', async (_, place, code, word) => {
    await expect(openStore(place)).rejects.toMatchObject({ code, message: expect.stringContaining(word) });
  });

  it('of a newer version is left alone', async () => {
    const file = join(folder, 'newer.db');
    await (await openStore({ file })).close();
    const { default: Database } = await import('libsql');
    const database = new Database(file);
    database.prepare("insert into kysely_migration values ('9999-later', '2030')").run();
    database.close();
    await expect(openStore({ file })).rejects.toMatchObject({
      code: 'store_failed',
      message: expect.stringContaining('newer'),
    });
  });

  it('loads neither the native package nor a driver before one is asked for', async () => {
    const script = join(folder, 'lazy.mjs');
    const url = (path: string) => JSON.stringify(new URL(path, `file://${process.cwd()}/`).href);
    writeFileSync(
      script,
      `import { createRequire } from 'node:module';
       const { openStore } = await import(${url('src/agents/store/open-store.ts')});
       await import(${url('src/agents/router.ts')});
       const loaded = () => Object.keys(createRequire(${url('package.json')}).cache)
         .filter((path) => /node_modules.(libsql|@libsql|pg|kysely)\\b/.test(path)).length;
       const before = loaded();
       await (await openStore({ file: ${JSON.stringify(join(folder, 'lazy.db'))} })).close();
       process.stdout.write(JSON.stringify({ before, isLoadedThen: loaded() > 0 }));`,
    );
    const { stdout } = await promisify(execFile)(process.execPath, [...LOADER, script]);
    expect(JSON.parse(stdout)).toEqual({ before: 0, isLoadedThen: true });
  }, 30_000);
});
