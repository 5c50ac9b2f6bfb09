/** What comes back from a queue: one result a case and repeat, with the cost that the command alone knows. */
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { CaseJob } from '../../../src/eval/case-runner.js';
import { type RedisServer, startRedis, whyNoRedis } from './redis-server.js';
import { answers, beginCommand, beginWorker, jobs } from './setup.js';

jest.setTimeout(60_000);

const reason = whyNoRedis();
const itWithRedis = reason === undefined ? it : it.skip;
const named = (name: string) => (reason === undefined ? name : `${name} (skipped: ${reason})`);

let redis: RedisServer;
beforeAll(async () => {
  if (reason === undefined) redis = await startRedis();
});
afterAll(async () => {
  await redis?.stop();
});

async function* twice(count: number): AsyncGenerator<CaseJob> {
  for (const repeat of [0, 1]) for await (const { case: one } of jobs(count)) yield { case: one, repeat };
}

describe('the results of a queue', () => {
  itWithRedis(named('are one of each case and repeat, however often they are put there while they wait'), async () => {
    const begun: string[] = [];
    const worker = beginWorker(redis.url, {
      concurrency: 1,
      run: async (job) => {
        begun.push(`${job.case.id}#${job.repeat}`);
        // Long enough for the rest to be put there again.
        await delay(300);
        return answers(job);
      },
    });
    const { ended, records } = beginCommand(redis.url, { source: twice(3), quietMs: 1 });
    await ended;
    await worker.end();
    const all = ['c0#0', 'c0#1', 'c1#0', 'c1#1', 'c2#0', 'c2#1'];
    expect([...begun].sort()).toEqual(all);
    expect(records.map(({ id, repeat }) => `${id}#${repeat}`).sort()).toEqual(all);
  });

  itWithRedis(named('are priced by the command: workers need no price table'), async () => {
    const worker = beginWorker(redis.url);
    const prices = { currency: 'USD', costOf: () => 0.25 };
    const { ended, records } = beginCommand(redis.url, { source: jobs(2), prices });
    await ended;
    await worker.end();
    expect(records.map(({ cost }) => cost)).toEqual([0.25, 0.25]);
  });
});
