/**
 * An hour's worth of mixed requests of good and hostile users against a real `winnow serve` on a SQLite store. In the first
 * tenth the server is killed again and again, and what it had acknowledged is looked for in its store; the last server
 * answers the rest, and its memory, descriptors and store are watched. Linux only; needs `npm run build`.
 * `node test/bench/soak.mjs [--requests 100000] [--kills 50] [--seed 1] [--concurrency 16]`
 * Ends with code 1 where something acknowledged is lost, a server ends by itself or answers 500, a request of a good user
 * fails, a hostile one gets through, or memory, descriptors or store grow without end.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { openStore } from '../../dist/agents/store/open-store.js';
import { createRandom } from '../../dist/eval/random.js';
import { CutOff, createClient } from './soak/client.mjs';
import { goodScenarios } from './soak/good-users.mjs';
import { hostileScenarios } from './soak/hostile-users.mjs';
import { createLedger } from './soak/ledger.mjs';
import { createSoakServer, USERS } from './soak/server.mjs';
import { median, renderNumber } from './statistics.mjs';

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '100000' },
    kills: { type: 'string', default: '50' },
    seed: { type: 'string', default: '1' },
    concurrency: { type: 'string', default: '16' },
  },
});
const [requests, kills, seed, concurrency] = ['requests', 'kills', 'seed', 'concurrency'].map((key) =>
  Number(values[key]),
);
const SAMPLES = 100;
const HOSTILE = USERS.slice(-2);
const GOOD = USERS.slice(0, -2);
/** Of the last quarter against the second, garbage collected. */
const MOST_GROWTH = 1.15;
const MOST_MORE_DESCRIPTORS = 32;
/** What stays when all that goes with age has gone: private tools, keys, definitions. */
const MOST_LEFT_BYTES = 4 * 1024 * 1024;

const random = createRandom(seed);
const below = (limit) => Math.floor(random() * limit);
const pick = (list) => list[below(list.length)];
const server = await createSoakServer();
const client = createClient(server);
const ledger = createLedger();
const recent = [];
const tools = {
  ...{ client, ledger, below, isLikely: (part) => random() < part },
  seen: (place) => void (recent.push(place) > 100 && recent.shift()),
  seenOnes: () => recent,
};
const [good, hostile] = [goodScenarios(tools), hostileScenarios(tools)];
const problems = [];

async function act() {
  while (client.done() < requests) {
    const [scenarios, users] = random() < 0.7 ? [good, GOOD] : [hostile, HOSTILE];
    try {
      await pick(scenarios)(pick(users));
    } catch (error) {
      if (!(error instanceof CutOff)) throw error;
    }
  }
}

/** @returns the names of what is lost */
const killOnce = () =>
  client.pause(async (settled) => {
    await server.kill();
    await settled();
    const lost = await ledger.findLost(server.store);
    await server.start();
    return lost;
  });

async function killNowAndThen() {
  const lost = [];
  for (let kill = 1; kill <= kills; kill++) {
    const due = ((kill - random() * 0.5) * requests) / 10 / kills;
    while (client.done() < due) await wait(5);
    lost.push(...(await killOnce()));
    process.stderr.write(`${kill} kills, ${client.done()} requests, ${lost.length} lost\n`);
  }
  return lost;
}

async function watch() {
  const samples = [];
  const from = client.done();
  for (let number = 0; number <= SAMPLES; number++) {
    while (client.done() < from + ((requests - from) * number) / SAMPLES) await wait(20);
    if (!server.isRunning()) break;
    samples.push({ done: client.done(), ...(await server.sample()) });
    if (number % 5 === 0) process.stderr.write(`${JSON.stringify(samples.at(-1))}\n`);
  }
  return samples;
}

/** Of the samples of a quarter, from 0. */
const quarter = (samples, place) =>
  samples.slice(Math.floor((samples.length * place) / 4), Math.floor((samples.length * (place + 1)) / 4));
const middleOf = (samples, place, key) => median(quarter(samples, place).map((one) => one[key]));

/** Least squares, for 10,000 requests, without the warm-up. */
function slopeOf(samples, key) {
  const late = samples.slice(Math.floor(samples.length / 4));
  const mean = (of) => late.reduce((sum, one) => sum + of(one), 0) / late.length;
  const [x, y] = [mean(({ done }) => done), mean((one) => one[key])];
  const over = mean((one) => (one.done - x) * (one[key] - y));
  return (over / mean((one) => (one.done - x) ** 2)) * 10_000;
}

function bytesARequest(samples, place) {
  const part = quarter(samples, place);
  const [first, last] = [part[0], part.at(-1)];
  return (last.storeBytes - first.storeBytes) / (last.done - first.done);
}

/** Takes all away that goes with age. @returns the bytes that are still in use */
async function bytesLeft(file) {
  const later = new Date(Date.now() + 86_400_000).toISOString();
  const store = await openStore({ file });
  for (const kind of ['audit', 'telemetry', 'approvals', 'runs']) while ((await store.prune(kind, later)) > 0);
  while ((await store.sessions.removeIdle(later)).length > 0);
  await store.close();
  const { default: Database } = await import('libsql');
  const database = new Database(file);
  const ask = (name) => database.prepare(`pragma ${name}`).get()[name];
  const bytes = (ask('page_count') - ask('freelist_count')) * ask('page_size');
  database.close();
  return bytes;
}

const check = (isSo, problem) => void (isSo || problems.push(problem));
const say = (what, ...figures) => process.stdout.write(`${what.padEnd(14)} ${figures.join(', ')}\n`);
const figures = (samples, key, unit) => [
  ...[
    `${renderNumber(samples[0][key])} at the start`,
    `${renderNumber(middleOf(samples, 1, key))} in the second quarter`,
  ],
  ...[
    `${renderNumber(middleOf(samples, 3, key))} in the last ${unit}`,
    `${renderNumber(slopeOf(samples, key))} more in 10,000 requests`,
  ],
];

try {
  await server.start();
  const began = performance.now();
  const acting = Promise.all(Array.from({ length: concurrency }, act));
  const lost = await Promise.race([killNowAndThen(), acting.then(() => [])]);
  const samples = await watch();
  await acting;
  const seconds = (performance.now() - began) / 1_000;
  check(server.isRunning(), `the server ended by itself: ${server.log().slice(-2_000)}`);
  check((await server.stop()) === 0, 'the server did not stop in order');
  const acknowledged = ledger.counts();
  const missing = [...lost, ...(await ledger.findLostOfAll(server.store))];
  const statuses = client.statuses();
  const surprises = client.surprises();
  const storeBytes = samples.at(-1).storeBytes;
  const left = await bytesLeft(server.store);

  say(
    'requests',
    `${client.done()}`,
    `${seconds.toFixed(0)} s`,
    `${(client.done() / seconds).toFixed(0)} a second with the starts of ${kills + 1} servers`,
  );
  say('statuses', ...Object.entries(statuses).map(([status, count]) => `${status}: ${count}`));
  say(
    'acknowledged',
    ...Object.entries(acknowledged).map(([kind, count]) => `${kind}: ${count}`),
    `lost: ${missing.length}`,
  );
  say('memory', ...figures(samples, 'megabytes', 'MB'));
  say('descriptors', ...figures(samples, 'descriptors', ''));
  const growth = [1, 3].map((place) => bytesARequest(samples, place));
  say(
    'store',
    `${renderNumber(storeBytes / 2 ** 20)} MB`,
    `${growth.map(renderNumber).join(' and ')} bytes a request in the second and the last quarter`,
    `${renderNumber(left / 2 ** 20)} MB left when all that goes with age has gone`,
  );

  check(missing.length === 0, `acknowledged and lost: ${JSON.stringify(missing.slice(0, 10))}`);
  check(!statuses[500], `${statuses[500]} answers of 500: ${server.log().slice(-2_000)}`);
  check(surprises.count === 0, `${surprises.count} answers that must not be:\n${surprises.first.join('\n')}`);
  const memory = [1, 3].map((place) => middleOf(samples, place, 'megabytes'));
  check(memory[1] <= memory[0] * MOST_GROWTH, `memory grows from ${memory[0]} to ${memory[1]} MB`);
  const open = [1, 3].map((place) => middleOf(samples, place, 'descriptors'));
  check(open[1] <= open[0] + MOST_MORE_DESCRIPTORS, `open descriptors grow from ${open[0]} to ${open[1]}`);
  check(growth[1] <= growth[0] * 1.5, 'the store grows faster and faster');
  check(left <= MOST_LEFT_BYTES, 'something in the store does not go with age');
} finally {
  client.close();
  server.remove();
}
for (const problem of problems) process.stdout.write(`NOT GOOD: ${problem}\n`);
process.exitCode = problems.length === 0 ? 0 : 1;
