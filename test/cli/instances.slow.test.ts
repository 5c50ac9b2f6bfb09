/** Three servers on one PostgreSQL behind a round-robin: whichever answers, it is one Winnow, also when one is killed. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, expect, it, vi } from 'vitest';
import { describePostgres } from '../agents/store/postgres.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { COMMAND } from './run-cli.js';
import { NO_MODEL } from './serve-setup.js';

vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 });

const INSTANCES = 3;
const TOOLS = [
  { name: 'burn', toolType: 'builtin', risk: 'high', description: 'Burns letters.' },
  { name: 'count', toolType: 'builtin', risk: 'low', description: 'Counts one on.' },
  { name: 'dig', toolType: 'builtin', risk: 'low', description: 'Digs until it is told to stop.' },
];
/** Each call leaves a line; `dig` hangs in the first process that runs it. */
const MODULE = `
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
const journal = process.env.JOURNAL;
const note = (name) => appendFileSync(journal, name + ' ' + process.pid + '\\n');
export const burn = () => { note('burn'); return 'burnt'; };
export const count = () => { note('count'); return 'counted'; };
export const dig = () => {
  const isFirst = !existsSync(journal) || !readFileSync(journal, 'utf8').includes('dig');
  note('dig');
  return isFirst ? new Promise(() => {}) : 'dug';
};
`;

interface Reply {
  status: number;
  isReplayed: boolean;
  // Of many forms; what is not there is undefined, and no expectation holds on it.
  body: ReturnType<typeof JSON.parse>;
}

describePostgres('three servers on one PostgreSQL', (server) => {
  const children: ChildProcess[] = [];
  afterEach(() => {
    for (const child of children.splice(0)) child.kill('SIGKILL');
  });

  async function start() {
    const folder = temporaryFolder();
    const at = (name: string) => join(folder, name);
    writeFileSync(at('tools.json'), JSON.stringify(TOOLS));
    writeFileSync(at('tools.mjs'), MODULE);
    writeFileSync(at('winnow.yaml'), 'sandbox: { timeoutMs: 120000 }\n');
    const files = [
      '--catalog',
      at('tools.json'),
      '--set',
      `toolsModule=${at('tools.mjs')}`,
      '--config',
      at('winnow.yaml'),
    ];
    const store = ['--store', await server().createDatabase()];
    const [program = '', ...words] = [...COMMAND, 'serve', '--port', '0', '--json', ...NO_MODEL, ...files, ...store];
    const { NODE_OPTIONS: _, ...own } = process.env;
    const env = { ...own, WINNOW_CACHE: folder, JOURNAL: at('journal') };
    const instances = Array.from({ length: INSTANCES }, () => {
      const child = spawn(program, words, { env, stdio: ['ignore', 'pipe', 'inherit'] });
      children.push(child);
      return child;
    });
    const addresses = await Promise.all(
      instances.map(async ({ stdout }) => {
        const [line] = await once(createInterface({ input: stdout ?? process.stdin }), 'line');
        return String(JSON.parse(line).address);
      }),
    );
    const token = readFileSync(at('operator-token'), 'utf8').trim();
    const lines = () => (existsSync(at('journal')) ? readFileSync(at('journal'), 'utf8').trim().split('\n') : []);

    const askAt = async (place: number, path: string, body: unknown, headers: Record<string, string> = {}) => {
      const response = await fetch(`${addresses[place % INSTANCES]}${path}`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${token}`,
          'content-type': 'application/json',
          ...{ 'x-winnow-user': 'ann', ...headers },
        },
        body: JSON.stringify(body),
      });
      const isReplayed = response.headers.has('idempotency-replayed');
      return { status: response.status, isReplayed, body: await response.json() } as Reply;
    };
    let next = 0;
    /** The next one in turn, as a balancer has it: one that does not answer is passed over. */
    const ask = async (...asked: [path: string, body: unknown, headers?: Record<string, string>]): Promise<Reply> => {
      for (let tried = 0; tried < INSTANCES; tried++) {
        try {
          return await askAt(next++, ...asked);
        } catch {
          // It is gone.
        }
      }
      throw new Error('No server answers.');
    };
    return { instances, ask, askAt, lines };
  }

  it('sessions, approvals, keys and runs are those of all of them, and outlive one that is killed', async () => {
    const { instances, ask, askAt, lines } = await start();
    const { id } = (await ask('/v1/sessions', {})).body;
    const session = `/v1/sessions/${id}`;
    await ask(`${session}/enable`, { names: ['burn', 'count', 'dig'] });
    const refused = await ask(`${session}/call`, { tool: 'burn' }, { 'idempotency-key': 'burn-1' });
    expect(refused.body).toMatchObject({ ok: false, code: 'needs_approval' });
    const operator = { 'x-winnow-user': 'olga', 'x-winnow-roles': 'operator' };
    const { body: granted } = await ask(`/v1/approvals/${refused.body.approval}/grant`, {}, operator);
    expect(granted).toMatchObject({ ok: true });
    const burnt = await ask(`${session}/call`, { tool: 'burn' }, { 'idempotency-key': 'burn-1' });
    const again = await ask(`${session}/call`, { tool: 'burn' }, { 'idempotency-key': 'burn-1' });
    expect([burnt.body.output, burnt.isReplayed, again.isReplayed]).toEqual(['burnt', false, true]);
    expect(again.body).toEqual(burnt.body);

    // The same request at all servers in the same moment: one makes the call.
    const sameKey = { 'idempotency-key': 'count-1' };
    const places = Array.from({ length: 12 }, (_, place) => place);
    const many = await Promise.all(places.map((place) => askAt(place, `${session}/call`, { tool: 'count' }, sameKey)));
    expect(many.map(({ status }) => status).filter((status) => status !== 200 && status !== 409)).toEqual([]);
    expect(many.filter(({ status, isReplayed }) => status === 200 && !isReplayed)).toHaveLength(1);
    expect(lines().filter((line) => line.startsWith('count'))).toHaveLength(1);

    // A server is killed in the middle of a run.
    const plan = {
      steps: [
        { id: 's1', tool: 'count', arguments: {} },
        { id: 's2', tool: 'dig', arguments: {}, dependsOn: ['s1'] },
      ],
    };
    const runKey = { 'idempotency-key': 'run-1' };
    const broken = ask('/v1/plans/run', { session: id, plan }, runKey).catch(() => undefined);
    while (!lines().some((line) => line.startsWith('dig'))) await delay(50);
    const running = lines()
      .find((line) => line.startsWith('dig'))
      ?.split(' ')[1];
    instances.find(({ pid }) => String(pid) === running)?.kill('SIGKILL');
    expect((await broken)?.body.code).toBe('conflict');
    let repeated = await ask('/v1/plans/run', { session: id, plan }, runKey);
    expect((await ask(`${session}/turns`, {})).body.turn).toBe(2);
    while (repeated.body.code === 'conflict') {
      await delay(1_000);
      repeated = await ask('/v1/plans/run', { session: id, plan }, runKey);
    }
    expect(repeated).toMatchObject({ status: 409, body: { code: 'outcome_unknown' } });
    expect(lines().filter((line) => line.startsWith('dig'))).toHaveLength(1);
  });
});
