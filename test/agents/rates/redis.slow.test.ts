/** Rates and budgets that servers share through one Redis, and what holds while it is away. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { type OpenRates, openRates, type RateClaim } from '../../../src/agents/rates/rate-limiter.js';
import { configured, serve } from '../../cli/serve-setup.js';
import { type RedisServer, startRedis, whyNoRedis } from '../../eval/queue/redis-server.js';
import { freePort } from '../../support/free-port.js';
import { startScriptedServer } from '../../support/scripted-server.js';
import { answer } from '../../support/server-behaviours.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const reason = whyNoRedis();
const describeRedis = reason === undefined ? describe : describe.skip;

const claim = (points: number, key = 'calls of ann'): RateClaim => ({ key, rate: { points, seconds: 3_600 } });

describeRedis(reason === undefined ? 'with one Redis' : `with one Redis (skipped: ${reason})`, () => {
  let redis: RedisServer | undefined;
  const opened: OpenRates[] = [];
  afterEach(async () => {
    for (const one of opened.splice(0)) one.close();
    await redis?.stop();
  });

  /** So many servers, each with its connection and what it was told. */
  async function open(count: number, settings: readonly string[] = []) {
    redis = await startRedis(settings);
    const { url } = redis;
    const servers = Array.from({ length: count }, async () => {
      const told: string[] = [];
      const one = await openRates(url, (notice) => told.push(notice));
      opened.push(one);
      return { rates: one.rates, told };
    });
    return { redis, url, servers: await Promise.all(servers) };
  }

  it('calls at all servers count together, and none lets more through', async () => {
    const { servers } = await open(2);
    const taken = await Promise.all(
      Array.from({ length: 20 }, (_, place) => servers[place % 2]?.rates.take([claim(5)])),
    );
    expect(taken.filter((one) => one === undefined)).toHaveLength(5);
    expect(await servers[0]?.rates.take([claim(5, 'calls of bob')])).toBeUndefined();
  });

  it('tokens that one server has counted refuse at the other', async () => {
    const [one, other] = (await open(2)).servers;
    await one?.rates.spend(claim(100), 60);
    expect(await other?.rates.waitOf(claim(100))).toBe(0);
    await other?.rates.spend(claim(100), 60);
    expect(await one?.rates.waitOf(claim(100))).toBeGreaterThan(0);
  });

  it('while it is away each server counts for itself and says so once', async () => {
    const { redis, servers } = await open(2);
    const [one, other] = servers;
    expect(await one?.rates.take([claim(1)])).toBeUndefined();
    await redis.stop();
    const take = async () => (await one?.rates.take([claim(1)])) === undefined;
    expect([await take(), await take()]).toEqual([true, false]);
    expect(await other?.rates.take([claim(1)])).toBeUndefined();
    while (one?.told.length === 0) await delay(10);
    const away = '): until it is back, rates and quotas.modelTokens hold for each server by itself.';
    expect(one?.told).toEqual([expect.stringContaining(away)]);
  });

  it('a database that it does not have is refused, and is not taken for database 0', async () => {
    const { url } = (await open(0)).redis;
    const told: string[] = [];
    const opening = openRates(`${url}/99`, (notice) => told.push(notice));
    await expect(opening).rejects.toMatchObject({
      code: 'invalid_option',
      message: expect.stringContaining('has no such database (ERR DB index is out of range)'),
    });
    await expect(openRates(`${url}/all`, (notice) => told.push(notice))).rejects.toThrow('write the address of Redis');
    expect(told).toEqual([]);
  });

  it('a server starts without it', async () => {
    const url = `redis://127.0.0.1:${await freePort()}`;
    const told: string[] = [];
    const one = await openRates(url, (notice) => told.push(notice));
    opened.push(one);
    expect([await one.rates.take([claim(1)]), await one.rates.take([claim(1)])]).toMatchObject([
      undefined,
      { key: 'calls of ann' },
    ]);
    expect(told).toEqual([expect.stringContaining('is away')]);
  });

  it('that is restarted is used again, with what was counted before', async () => {
    const { redis, servers } = await open(1);
    const [one] = servers;
    await one?.rates.spend(claim(10), 10);
    await redis.restart();
    while ((one?.told.length ?? 0) < 2) await delay(20);
    expect(one?.told[1]).toMatch(/^Redis at .* is back/u);
    expect(await one?.rates.waitOf(claim(10))).toBeGreaterThan(0);
  });

  it('that answers nothing is taken to be away', async () => {
    const { url, servers } = await open(1);
    const [one] = servers;
    const client = new Redis(url);
    await client.call('client', 'pause', '20000', 'all');
    client.disconnect();
    expect(await one?.rates.take([claim(1)])).toBeUndefined();
    while (one?.told.length === 0) await delay(10);
    expect(one?.told).toEqual([expect.stringContaining('is away')]);
  });

  it('that can not count is taken to be away, and the reason is told', async () => {
    const { servers } = await open(1, ['--maxmemory', '1']);
    const [one] = servers;
    expect([await one?.rates.take([claim(1)]), await one?.rates.take([claim(1)])]).toMatchObject([
      undefined,
      { key: 'calls of ann' },
    ]);
    while (one?.told.length === 0) await delay(10);
    expect(one?.told[0]).toMatch(/is away \(OOM command not allowed/u);
  });

  it('two servers of winnow serve share the rates of calls and the tokens of a user', async () => {
    redis = await startRedis();
    const model = await startScriptedServer(() => answer('{"selected_tools": ["count"], "reason": "it counts"}'));
    const folder = temporaryFolder();
    const at = (name: string) => join(folder, name);
    const tools = ['count', 'rest'].map((name) => ({ name, toolType: 'builtin', risk: 'low', description: name }));
    writeFileSync(at('tools.json'), JSON.stringify(tools));
    writeFileSync(at('tools.mjs'), 'export const count = () => 1;');
    const config = configured({
      redis: redis.url,
      catalog: [at('tools.json')],
      toolsModule: at('tools.mjs'),
      model: { baseUrl: model.baseUrl, name: 'm' },
      options: { passthroughTools: 0, fillTokens: 0, answer: 'list' },
      sandbox: { rate: { calls: 3, seconds: 3_600 } },
      quotas: { modelTokens: { tokens: 45, seconds: 3_600 } },
    });
    const one = await serve(...config);
    const other = await serve(...config);
    const call = async ({ ask }: typeof one) => {
      const { id } = await ask('POST /v1/sessions', {});
      await ask(`POST /v1/sessions/${id}/enable`, { names: ['count'] });
      const result = await ask(`POST /v1/sessions/${id}/call`, { tool: 'count', arguments: {} });
      return result.ok ? 'ok' : result.code;
    };
    expect([await call(one), await call(other), await call(one)]).toEqual(['ok', 'ok', 'ok']);
    expect([await call(one), await call(other)]).toEqual(['rate_limited', 'rate_limited']);
    const select = async ({ ask }: typeof one) => (await ask('POST /v1/select', { message: 'Count on' })).code;
    expect([await select(one), await select(other), await select(one)]).toEqual([undefined, undefined, undefined]);
    expect([await select(one), await select(other)]).toEqual(['quota_exceeded', 'quota_exceeded']);
    await one.stop();
    await model.close();
  });
});

it('an address with a slip is refused and not shown', async () => {
  await expect(openRates('http://:secret@127.0.0.1', () => {})).rejects.toMatchObject({
    code: 'invalid_option',
    message: expect.not.stringContaining('secret'),
  });
});
