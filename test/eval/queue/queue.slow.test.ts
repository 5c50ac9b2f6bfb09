import { setTimeout as delay } from 'node:timers/promises';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { CaseJob, CaseRunner } from '../../../src/eval/case-runner.js';
import { jobIdOf } from '../../../src/eval/queue/queued-run.js';
import { PREFIX, queueNameOf } from '../../../src/eval/queue/run-registry.js';
import { aCase, aRecord, NO_USAGE } from '../setup.js';
import { type RedisServer, startRedis, whyNoRedis } from './redis-server.js';
import {
  answers,
  aRun,
  beginCommand,
  beginWorker,
  type CommandOptions,
  FINGERPRINT,
  fails,
  IDENTITY,
  jobs,
} from './setup.js';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const reason = whyNoRedis();
const itWithRedis = (name: string, work: () => Promise<void>) =>
  reason === undefined ? it(name, work) : it.skip(`${name} (skipped: ${reason})`, work);

let redis: RedisServer;
let client: Redis;
beforeAll(async () => {
  if (reason !== undefined) return;
  redis = await startRedis();
  client = new Redis(redis.url);
});
afterEach(async () => {
  await client?.flushall();
});
afterAll(async () => {
  client?.disconnect();
  await redis?.stop();
});

const ids = (records: readonly { id: string }[]) => records.map(({ id }) => id).sort();
const never = new Promise<never>(() => undefined);

/** Resolves when the function is called. */
function occasion<T>() {
  let tell: (value: T) => void = () => undefined;
  const told = new Promise<T>((resolve) => {
    tell = resolve;
  });
  return { told, tell };
}

type OneWorker = CommandOptions & { work?: CaseRunner; concurrency?: number };

/** A run on one worker, to its end. */
async function runToEnd({ work = answers, concurrency = 2, ...options }: OneWorker) {
  const worker = beginWorker(redis.url, { run: work, concurrency });
  const command = beginCommand(redis.url, options);
  await command.ended;
  await worker.end();
  return { ...command, worker };
}

describe('a queue of cases', () => {
  itWithRedis('holds no more of them than the window, and no prompt', async () => {
    const run = aRun();
    let taken = 0;
    let most = 0;
    const stable = 'The stable part, which is long.';
    const inRedis: string[] = [];
    const worker = beginWorker(redis.url, {
      createRunner: (_, onStablePart) => async (job) => {
        onStablePart('abcd', stable);
        inRedis.push(JSON.stringify(await client.hgetall(`${PREFIX}:${queueNameOf(run.id)}:${jobIdOf(job)}`)));
        const call = { stage: 'selection' as const, system: 'abcd', user: 'u', answer: 'a', usage: NO_USAGE };
        const calls = [{ ...call, milliseconds: 1, fromCache: false }];
        return aRecord({ id: job.case.id, calls });
      },
    });
    const { ended, records, prompts } = beginCommand(redis.url, {
      run,
      window: 7,
      source: jobs(40, () => {
        taken += 1;
      }),
      onRecord: () => {
        most = Math.max(most, taken - records.length);
      },
    });
    await ended;
    await worker.end();
    expect(ids(records)).toEqual(ids(Array.from({ length: 40 }, (_, place) => ({ id: `c${place}` }))));
    expect(most).toBe(7);
    expect(inRedis).toHaveLength(40);
    for (const text of inRedis)
      expect([text, text.includes(stable)]).toEqual([expect.stringContaining('the lake'), false]);
    expect(Object.fromEntries(prompts)).toEqual({ abcd: stable });
    expect(await client.keys('*')).toEqual([]);
  });

  itWithRedis('tries a case again whose server fails, and keeps it as an error after the last try', async () => {
    const tries = new Map<string, number>();
    const { records } = await runToEnd({
      source: jobs(3),
      work: async (job) => {
        const count = (tries.get(job.case.id) ?? 0) + 1;
        tries.set(job.case.id, count);
        return job.case.id === 'c0' || (job.case.id === 'c1' && count < 3) ? fails(job) : answers(job);
      },
    });
    expect(Object.fromEntries(tries)).toEqual({ c0: 3, c1: 3, c2: 1 });
    const outcomes = Object.fromEntries(records.map(({ id, outcome, error }) => [id, error?.code ?? outcome]));
    expect(outcomes).toEqual({ c0: 'model_failed', c1: 'answered', c2: 'answered' });
  });

  itWithRedis('tries no case again that failing would not mend', async () => {
    let tries = 0;
    const refused = { code: 'model_refused', message: 'no key', issues: [] };
    const { records } = await runToEnd({
      source: jobs(1),
      work: async ({ case: { id } }) => {
        tries += 1;
        return aRecord({ id, outcome: 'error', error: refused, scores: {} });
      },
    });
    expect([tries, records.map(({ error }) => error?.code)]).toEqual([1, ['model_refused']]);
  });

  itWithRedis('gives up a case that breaks its worker, and says so', async () => {
    const work = () => Promise.reject(new Error('out of order'));
    const { records } = await runToEnd({ source: jobs(1), work });
    const message = 'No worker came to the end of this case: out of order.';
    expect(records).toMatchObject([{ id: 'c0', outcome: 'error', error: { code: 'internal', message } }]);
  });
});

describe('a worker', () => {
  itWithRedis('refuses a run with other settings than its own, each named, here and at the command', async () => {
    const identity = {
      ...IDENTITY,
      version: '0.9.0',
      prompts: { 'select-tools': 'other' },
      catalogs: new Set<string>(),
    };
    const worker = beginWorker(redis.url, { identity, name: 'machine:1' });
    const refused = occasion<string>();
    const { ended, stop, records } = beginCommand(redis.url, { onNotice: refused.tell });
    const notice = await refused.told;
    stop.abort();
    await ended;
    await worker.end();
    const issues = [
      'version: "1.0.0" there, "0.9.0" here',
      'prompts.select-tools: "abc" there, "other" here',
      `catalogs.set: no catalogue with the fingerprint ${'f'.repeat(16)} here`,
    ];
    expect(notice).toMatch(/^The worker machine:1 refuses: /u);
    for (const issue of issues)
      expect([notice, worker.notices.join()]).toEqual([1, 2].map(() => expect.stringContaining(issue)));
    expect(records).toEqual([]);
  });

  itWithRedis('refuses a run whose description it can not read', async () => {
    await client.set(`${PREFIX}:eval:x:run`, '{"format": 1}');
    await client.zadd(`${PREFIX}:eval:runs`, Date.now(), 'x');
    const refused = occasion<string>();
    const worker = beginWorker(redis.url, { onNotice: refused.tell });
    expect(await refused.told).toContain('The run x is refused: format: written by another version of Winnow');
    await worker.end();
  });

  itWithRedis('that is told to stop finishes its cases, and others do the rest', async () => {
    const begun = occasion<void>();
    const goOn = occasion<void>();
    const first = beginWorker(redis.url, {
      name: 'first',
      concurrency: 1,
      run: async (job) => {
        begun.tell();
        await goOn.told;
        return aRecord({ id: job.case.id, rung: 'by the first' });
      },
    });
    const { ended, records } = beginCommand(redis.url);
    await begun.told;
    first.stop.abort();
    goOn.tell();
    await first.ended;
    const second = beginWorker(redis.url, { name: 'second' });
    await ended;
    await second.end();
    expect(ids(records)).toEqual(['c0', 'c1', 'c2', 'c3', 'c4']);
    expect(records.filter(({ rung }) => rung === 'by the first')).toHaveLength(1);
  });

  itWithRedis('that is lost in the middle of a case loses it to another', async () => {
    const begun = occasion<void>();
    const first = beginWorker(redis.url, {
      name: 'first',
      concurrency: 1,
      run: () => {
        begun.tell();
        return never;
      },
    });
    const { ended, records } = beginCommand(redis.url, { source: jobs(3) });
    await begun.told;
    first.cancel.abort();
    await first.ended;
    const second = beginWorker(redis.url, { name: 'second' });
    await ended;
    await second.end();
    expect(ids(records)).toEqual(['c0', 'c1', 'c2']);
    expect(records.map(({ outcome }) => outcome)).toEqual(['answered', 'answered', 'answered']);
    expect(second.notices).toContain('A worker was lost: a case of it is done again.');
  });
});

describe('the model of a run', () => {
  const identityOf = (model: string) => ({ ...IDENTITY, model, catalogs: new Set([FINGERPRINT]) });

  itWithRedis('is the one that the command names: workers with another refuse, and the run goes on', async () => {
    const refused = occasion<string>();
    const other = beginWorker(redis.url, { name: 'other', identity: identityOf('another') });
    const command = beginCommand(redis.url, { onNotice: refused.tell });
    expect(await refused.told).toBe(
      'The worker other refuses: model: "m" there, "another" here ("there": the run, "here": this worker).',
    );
    const right = beginWorker(redis.url, { name: 'right' });
    await command.ended;
    await Promise.all([other.end(), right.end()]);
    expect(command.records).toHaveLength(5);
  });

  itWithRedis('may go by another name at the workers, and is one of all that do', async () => {
    const run = aRun({ identity: { ...IDENTITY, model: 'small' } });
    const called = (model: string) => ({ ...identityOf(model), modelName: 'small' });
    const refused = occasion<string>();
    const other = beginWorker(redis.url, { name: 'other', identity: identityOf('large.gguf:9:ff') });
    const command = beginCommand(redis.url, { run, onNotice: refused.tell });
    expect(await refused.told).toContain('The worker other refuses: model: "small" there, "large.gguf:9:ff" here');
    const workers = ['one', 'two'].map((name) => beginWorker(redis.url, { name, identity: called('small.gguf:9:ee') }));
    await command.ended;
    await Promise.all([other, ...workers].map(({ end }) => end()));
    expect(command.records).toHaveLength(5);
  });
});

describe('a command', () => {
  itWithRedis('takes no result from Redis before it is on the disk', async () => {
    const run = aRun();
    const inRedis = async () => (await client.keys(`${PREFIX}:${queueNameOf(run.id)}:c-*`)).length;
    const left: number[] = [];
    let kept = 0;
    await runToEnd({
      run,
      source: jobs(3),
      beforeKeep: async () => void left.push((await inRedis()) - (3 - kept)),
      onRecord: () => void kept++,
    });
    expect(left.length).toBeGreaterThan(0);
    expect(Math.min(...left)).toBeGreaterThanOrEqual(0);
  });

  itWithRedis('that goes on after a kill finds the results that came in without it', async () => {
    const run = aRun();
    const kept: string[] = [];
    const worker = beginWorker(redis.url);
    const broken = beginCommand(redis.url, {
      run,
      onRecord: ({ id }) => {
        if (kept.length === 2) throw new Error('killed');
        kept.push(id);
      },
    });
    await expect(broken.ended).rejects.toThrow('killed');
    expect(await client.keys(`${PREFIX}:${queueNameOf(run.id)}:c-*`)).not.toEqual([]);
    await worker.end();
    async function* missing() {
      for await (const job of jobs(5)) if (!kept.includes(job.case.id)) yield job;
    }
    const idle = beginCommand(redis.url, { run, source: missing(), onRecord: ({ id }) => void kept.push(id) });
    const second = beginWorker(redis.url);
    await idle.ended;
    await second.end();
    expect([...new Set(kept)].sort()).toEqual(['c0', 'c1', 'c2', 'c3', 'c4']);
    expect(await client.keys('*')).toEqual([]);
  });

  itWithRedis('keeps only what it has asked for, whoever writes to Redis', async () => {
    const run = aRun();
    const queue = new Queue(queueNameOf(run.id), { connection: client, prefix: PREFIX, skipVersionCheck: true });
    await queue.add('case', 'junk', { jobId: 'junk', attempts: 1 });
    await queue.add('case', { case: aCase({ id: 'strange' }), repeat: 0 }, { jobId: 'strange', attempts: 1 });
    const { records, notices } = await runToEnd({ run, source: jobs(12) });
    await queue.close();
    expect(ids(records)).toEqual(ids(Array.from({ length: 12 }, (_, place) => ({ id: `c${place}` }))));
    expect(notices.join('\n')).toContain('in Redis were not asked for');
  });

  itWithRedis('that is interrupted takes back what nobody has begun, and waits for the rest', async () => {
    const begun = occasion<void>();
    const goOn = occasion<void>();
    const worker = beginWorker(redis.url, {
      concurrency: 1,
      run: async (job) => {
        begun.tell();
        await goOn.told;
        return answers(job);
      },
    });
    const { ended, records, stop } = beginCommand(redis.url, { source: jobs(10) });
    await begun.told;
    stop.abort();
    setTimeout(goOn.tell, 500);
    await ended;
    await worker.end();
    expect(ids(records)).toEqual(['c0']);
    expect(await client.keys('*')).toEqual([]);
  });

  itWithRedis('that is cancelled ends at once', async () => {
    const { ended, cancel } = beginCommand(redis.url, { onNotice: () => cancel.abort() });
    setTimeout(() => cancel.abort(), 300);
    await expect(ended).rejects.toMatchObject({ code: 'cancelled' });
  });

  itWithRedis('puts the window there again when Redis has lost it', async () => {
    const last = occasion<void>();
    const onTaken = (place: number) => (place === 3 ? last.tell() : undefined);
    const { ended, records } = beginCommand(redis.url, { source: jobs(4, onTaken), quietMs: 300 });
    await last.told;
    while ((await client.keys(`${PREFIX}:eval-*:c-*`)).length < 4) await new Promise(setImmediate);
    await client.flushall();
    const worker = beginWorker(redis.url);
    await ended;
    await worker.end();
    expect(ids(records)).toEqual(['c0', 'c1', 'c2', 'c3']);
  });

  itWithRedis('warns of a Redis that may throw jobs away', async () => {
    await client.config('SET', 'maxmemory-policy', 'allkeys-lru');
    const { notices, worker } = await runToEnd({ source: jobs(1) });
    await client.config('SET', 'maxmemory-policy', 'noeviction');
    for (const told of [notices, worker.notices])
      expect(told).toContainEqual(
        expect.stringMatching(/set its maxmemory-policy to noeviction \(it is allkeys-lru\)/u),
      );
  });

  it.each([
    ['an address that is none', 'redis', 'invalid_option', 'give the address of Redis'],
    ['another protocol', 'http://127.0.0.1:1', 'invalid_option', 'give the address of Redis'],
    ['a word for a database', 'redis://user:secret@127.0.0.1:1/all', 'invalid_option', 'give the address of Redis'],
    ['nobody there', 'redis://user:secret@127.0.0.1:1', 'store_failed', 'Redis at 127.0.0.1:1 can'],
  ])('refuses %s, without telling the password', async (_, url, code, message) => {
    const error: unknown = await beginCommand(url).ended.catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code, message: expect.stringContaining(message) });
    expect(String(error)).not.toContain('secret');
  });
});

describe('a database that Redis does not have', () => {
  itWithRedis('is refused, and is not taken for database 0', async () => {
    const error: unknown = await beginCommand(`${redis.url}/99`).ended.catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'store_failed', message: expect.stringContaining('DB index is out of range') });
  });
});

async function* twice(count: number): AsyncGenerator<CaseJob> {
  for (const repeat of [0, 1]) for await (const { case: one } of jobs(count)) yield { case: one, repeat };
}

describe('the results of a queue', () => {
  itWithRedis('are one of each case and repeat, however often they are put there while they wait', async () => {
    const begun: string[] = [];
    const { records } = await runToEnd({
      source: twice(3),
      quietMs: 1,
      concurrency: 1,
      work: async (job) => {
        begun.push(`${job.case.id}#${job.repeat}`);
        // Long enough for the rest to be put there again.
        await delay(300);
        return answers(job);
      },
    });
    const all = ['c0#0', 'c0#1', 'c1#0', 'c1#1', 'c2#0', 'c2#1'];
    expect([...begun].sort()).toEqual(all);
    expect(records.map(({ id, repeat }) => `${id}#${repeat}`).sort()).toEqual(all);
  });
});
