/** The worker on a real Redis and a real Winnow: processes of it are killed inside steps, and each tool runs once all the same. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { Queue, QueueEvents } from 'bullmq';
import { afterEach, expect } from 'vitest';
import { configured, serve } from '../cli/serve-setup.js';
import { type RedisServer, startRedis, whyNoRedis } from '../eval/queue/redis-server.js';
import { startScriptedServer } from '../support/scripted-server.js';
import { answerJson } from '../support/server-behaviours.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { testOrSkip } from '../support/test-or-skip.js';

const tool = (name: string, risk: string, argument: string, result: Record<string, unknown>) => ({
  ...{ name, risk, description: `The tool ${name}.`, toolType: 'builtin' },
  inputSchema: { type: 'object', properties: { [argument]: { type: 'string' } }, required: [argument] },
  outputSchema: { type: 'object', properties: result, required: Object.keys(result) },
});
const TOOLS = [
  tool('find_station', 'low', 'name', { id: { type: 'string' } }),
  tool('read_level', 'low', 'station', { metres: { type: 'number' } }),
  tool('send_report', 'high', 'text', { sent: { type: 'string' } }),
];
/** Each writes that it runs, then waits until the test lets it end. */
const MODULE = (folder: string) => `
import { appendFileSync, existsSync } from 'node:fs';
async function run(name, output) {
  appendFileSync('${folder}/ran', name + '\\n');
  while (!existsSync('${folder}/let ' + name)) await new Promise((wait) => setTimeout(wait, 20));
  return output;
}
export const find_station = ({ name }) => run('find_station', { id: 'no-' + name });
export const read_level = ({ station }) => run('read_level', { metres: station === 'no-Sauer' ? 2.4 : 0 });
export const send_report = ({ text }) => run('send_report', { sent: text });
`;
const PLAN = {
  kind: 'plan',
  steps: [
    { id: 's1', tool: 'find_station', arguments: { name: 'Sauer' } },
    { id: 's2', tool: 'read_level', arguments: { station: '${s1.id}' } },
    { id: 's3', tool: 'send_report', arguments: { text: 'It is ${s2.metres} m high.' } },
  ],
};

/** What all of them have written about jobs that failed. */
let said = '';
const workers: ChildProcess[] = [];
const kill = () => Promise.all(workers.splice(0).map((one) => one.kill('SIGKILL') && once(one, 'exit')));
let redis: RedisServer | undefined;
afterEach(async () => {
  await kill();
  await redis?.stop();
});

function startWorker(...words: string[]): void {
  const { NODE_OPTIONS: _, ...env } = process.env;
  const loader = pathToFileURL(resolve('test/support/typescript-loader.mjs')).href;
  const all = ['--import', loader, 'test/example/bullmq-worker.ts', ...words];
  const child = spawn(process.execPath, all, { env, stdio: ['ignore', 'ignore', 'pipe'] });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  workers.push(child);
}

testOrSkip('a plan is done once, whatever happens to its workers', whyNoRedis(), async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'tools.json'), JSON.stringify(TOOLS));
  writeFileSync(join(folder, 'tools.mjs'), MODULE(folder));
  const ran = () =>
    existsSync(join(folder, 'ran')) ? readFileSync(join(folder, 'ran'), 'utf8').trim().split('\n') : [];
  const until = async (isSo: () => boolean) => {
    while (!isSo()) await delay(20);
  };
  const runs = (name: string) => until(() => ran().includes(name));
  const letEnd = (name: string) => writeFileSync(join(folder, `let ${name}`), '');
  const model = await startScriptedServer([answerJson(PLAN)]);
  const files = ['--catalog', join(folder, 'tools.json'), '--set', `toolsModule=${join(folder, 'tools.mjs')}`];
  const settings = configured({ sandbox: { timeoutMs: 100_000 } });
  const winnow = await serve('--base-url', model.baseUrl, '--model', 'm', ...settings, ...files);
  redis = await startRedis();
  const connection = { url: redis.url };
  const queue = new Queue('plans', { connection });
  const events = new QueueEvents('plans', { connection });
  const job = await queue.add('plan', { message: 'Report the level of the Sauer.' }, { jobId: 'order-7' });

  // Killed while a step runs, and the next one asks for the same step before that has ended.
  startWorker(redis.url, winnow.address, '1');
  await runs('find_station');
  letEnd('find_station');
  await runs('read_level');
  await kill();
  startWorker(redis.url, winnow.address, '1');
  await until(() => said.includes('conflict') || ran().length > 2);
  letEnd('read_level');

  // Killed while the last step waits for its approval, and again while it runs.
  const waiting = async (): Promise<{ id: string }> => {
    const { approvals } = await winnow.ask('GET /v1/approvals');
    return approvals[0] ?? delay(20).then(waiting);
  };
  const { id } = await waiting();
  const { last } = await job.waitUntilFinished(events);
  // As if a worker had been killed before it could say that all steps were added.
  await job.retry('completed');
  expect(await job.waitUntilFinished(events)).toMatchObject({ last });
  await kill();
  await winnow.ask(`POST /v1/approvals/${id}/grant`, {}, { 'x-winnow-user': 'olga', 'x-winnow-roles': 'operator' });
  startWorker(redis.url, winnow.address, '1');
  await runs('send_report');
  await kill();
  startWorker(redis.url, winnow.address, '1');
  letEnd('send_report');

  const lastJob = await queue.getJob(last);
  const results = { s1: { id: 'no-Sauer' }, s2: { metres: 2.4 }, s3: { sent: 'It is 2.4 m high.' } };
  expect(await lastJob?.waitUntilFinished(events)).toEqual(results);
  expect(ran()).toEqual(['find_station', 'read_level', 'send_report']);
  model.assertDone();
  await Promise.all([kill(), queue.close(), events.close(), model.close()]);
  await winnow.stop();
});
