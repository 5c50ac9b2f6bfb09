/** The whole of it as processes: a command, three workers, one killed in mid-case, and a Redis that goes and comes back. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { readSummary, withRun } from '../../../src/eval/run-store.js';
import { type Outcome, runCli } from '../../cli/run-cli.js';
import { type RecordedRequest, type ScriptedServer, startScriptedServer } from '../../support/scripted-server.js';
import { answerJson, hang } from '../../support/server-behaviours.js';
import { startReceiver } from '../../support/trace-receiver.js';
import { keysIn } from '../setup.js';
import { type RedisServer, startRedis, whyNoRedis } from './redis-server.js';

vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 });

const CASES = 60;
const WORKERS = ['first', 'second', 'third'] as const;
const KILLED = 'second';
const reason = whyNoRedis();
const itWithRedis = reason === undefined ? it : it.skip;
const places = Array.from({ length: CASES }, (_, place) => place);
const tools = [0, 1, 2].map((place) => ({
  name: `tool_${place}`,
  toolType: 'builtin',
  description: `Does the thing number ${place}.`,
  inputSchema: { type: 'object', properties: { x: { type: 'string' } } },
}));
const cases = places.map((place) => ({
  id: `c${place}`,
  query: `Please do thing number ${place}.`,
  expectedTools: [`tool_${place % 3}`],
  expectedSteps: [{ tool: `tool_${place % 3}`, arguments: { x: `value ${place}` } }],
}));

let folder: string;
let redis: RedisServer;
let server: ScriptedServer;
/** Called with every request; true: it is never answered. */
let onRequest: (worker: string, count: number) => boolean;
let isOpen: Promise<unknown>;
/** Of all processes: one that a failed test leaves must not take part in the next. */
const kills: ((signal: NodeJS.Signals) => void)[] = [];

beforeAll(async () => {
  if (reason !== undefined) return;
  folder = mkdtempSync(join(tmpdir(), 'winnow-queue-'));
  writeFileSync(join(folder, 'set.tools.json'), JSON.stringify(tools));
  writeFileSync(join(folder, 'set.cases.jsonl'), cases.map((one) => `${JSON.stringify(one)}\n`).join(''));
  redis = await startRedis();
  server = await startScriptedServer((request, index) => {
    if (onRequest(workerOf(request), index + 1)) return hang();
    return (given, response) => {
      isOpen.then(() => setTimeout(() => answer(given, response), 30));
    };
  });
});
afterEach(async () => {
  for (const kill of kills.splice(0)) kill('SIGKILL');
  if (redis) await withRedis((client) => client.flushall());
});
afterAll(async () => {
  await server?.close();
  await redis?.stop();
  if (folder) rmSync(folder, { recursive: true });
});

/** Each worker has a key of its own. */
function workerOf({ headers }: RecordedRequest): string {
  return headers.authorization?.replace('Bearer ', '') ?? '';
}

function answer(request: RecordedRequest, response: ServerResponse): void {
  const body = JSON.stringify(request.body);
  const place = Number(/do thing number (\d+)/u.exec(body)?.[1]);
  const tool = `tool_${place % 3}`;
  const plan = { kind: 'plan', steps: [{ id: 's1', tool, arguments: { x: `value ${place}` } }] };
  const isSelection = body.includes('selected_tools');
  answerJson(isSelection ? { selected_tools: [tool], reason: 'r' } : plan)(request, response);
}

function begin(words: readonly string[], key: string, more: Readonly<Record<string, string>> = {}) {
  let kill: (signal: NodeJS.Signals) => void = () => undefined;
  const env = { WINNOW_CACHE: join(folder, 'cache', key), WINNOW_API_KEY: key, ...more };
  const ended: Promise<Outcome> = runCli(words, {
    env,
    onStart: (given) => {
      kill = given;
    },
  });
  kills.push(kill);
  return { ended, kill };
}

/** Both are told of the cases, and the workers alone of the model's address. */
const shared = () => ['--suite', join(folder, 'set'), '--queue', redis.url];
const beginWorker = (key: string, env = {}) =>
  begin(['worker', ...shared(), '--base-url', server.baseUrl, '--model', 'm'], key, env);
const small = ['--set', 'passthroughTools=0,fillTokens=0'];
const beginRun = (out: string, more: readonly string[] = []) =>
  begin(['eval', ...shared(), '--model', 'm', ...small, '--out', out, ...more], 'command');

const numberOf = (key: string) => Number(key.slice(1).split('#')[0]);
const inOrder = (keys: readonly string[]) => [...keys].sort((one, other) => numberOf(one) - numberOf(other));

async function withRedis<T>(ask: (client: Redis) => Promise<T>): Promise<T> {
  const client = new Redis(redis.url);
  try {
    return await ask(client);
  } finally {
    client.disconnect();
  }
}
const keysInRedis = () => withRedis((client) => client.keys('*'));

const named = (name: string) => (reason === undefined ? name : `${name} (skipped: ${reason})`);

describe('a run on three workers', () => {
  itWithRedis(
    named('has every case exactly once, though one is killed in mid-case and Redis is started again'),
    async () => {
      const out = join(folder, 'run');
      const workers = new Map(WORKERS.map((key) => [key as string, beginWorker(key)]));
      const seen = new Set<string>();
      let ofKilled = 0;
      let restarted: Promise<void> | undefined;
      let allHere: () => void = () => undefined;
      isOpen = new Promise<void>((resolve) => {
        allHere = resolve;
      });
      onRequest = (worker, count) => {
        seen.add(worker);
        if (seen.size === WORKERS.length) allHere();
        if (count === CASES) restarted = redis.restart();
        ofKilled += Number(worker === KILLED);
        if (worker !== KILLED || ofKilled < 4) return false;
        workers.get(KILLED)?.kill('SIGKILL');
        return true;
      };
      const { exitCode, stderr } = await beginRun(out).ended;
      expect([exitCode, stderr]).toEqual([0, expect.stringContaining('takes part.')]);
      await restarted;
      expect(restarted).toBeDefined();
      expect(stderr).toMatch(/is lost; waiting for it\.[\s\S]*is back\./u);
      expect(inOrder(await keysIn(out))).toEqual(places.map((place) => `c${place}#0`));
      expect(await readSummary(out)).toMatchObject({
        interrupted: false,
        counts: { done: CASES, right: CASES, errors: 0 },
      });
      expect(seen).toEqual(new Set(WORKERS));
      const prompts = [...(await withRun(out, (store) => store.prompts())).values()];
      expect(prompts.some((text) => text.includes('tool_2'))).toBe(true);
      expect((await workers.get(KILLED)?.ended)?.exitCode).toBeNull();
      for (const key of ['first', 'third']) {
        workers.get(key)?.kill('SIGTERM');
        expect(await workers.get(key)?.ended).toMatchObject({
          exitCode: 0,
          stderr: expect.stringMatching(/is over/u),
        });
      }
      expect(await keysInRedis()).toEqual([]);
    },
  );

  itWithRedis(
    named('goes on with --resume after its command was killed, though a worker went on without it'),
    async () => {
      const out = join(folder, 'killed');
      isOpen = Promise.resolve();
      let run = { kill: (_: NodeJS.Signals): void => undefined };
      onRequest = (_, count) => {
        if (count === firstCount + 20) run.kill('SIGKILL');
        return false;
      };
      const firstCount = server.requests.length;
      const worker = beginWorker('only');
      const killed = beginRun(out);
      run = killed;
      expect((await killed.ended).exitCode).toBeNull();
      const before = await readSummary(out);
      expect(before).toMatchObject({ interrupted: true });
      const { exitCode, stderr } = await beginRun(out, ['--resume']).ended;
      expect([exitCode, stderr]).toEqual([0, expect.stringContaining(`eval ${CASES}/${CASES}`)]);
      expect(inOrder(await keysIn(out))).toEqual(places.map((place) => `c${place}#0`));
      expect(await readSummary(out)).toMatchObject({ interrupted: false, counts: { done: CASES, right: CASES } });
      expect(server.requests.length - firstCount).toBe(2 * CASES);
      expect(await keysInRedis()).toEqual([]);
      worker.kill('SIGTERM');
      expect((await worker.ended).exitCode).toBe(0);
    },
  );

  itWithRedis(named('is traced where a worker is told a receiver, with what is left when it stops'), async () => {
    isOpen = Promise.resolve();
    onRequest = () => false;
    const receiver = await startReceiver();
    const worker = beginWorker('only', { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url });
    expect((await beginRun(join(folder, 'traced'), ['--limit', '2']).ended).exitCode).toBe(0);
    worker.kill('SIGTERM');
    expect((await worker.ended).exitCode).toBe(0);
    expect(receiver.spans().filter(({ name }) => name === 'winnow.plan')).toHaveLength(2);
  });

  itWithRedis(named('says how to go on, also where it was interrupted before a worker came'), async () => {
    const out = join(folder, 'early');
    const { ended, kill } = beginRun(out);
    while ((await keysInRedis()).length === 0) await delay(50);
    kill('SIGINT');
    const { exitCode, stderr } = await ended;
    expect([exitCode, stderr]).toEqual([130, expect.stringContaining(`Go on with --resume --out ${out}.`)]);
  });
});
