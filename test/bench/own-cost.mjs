/**
 * What a request costs without the model: Winnow against LangChain's `createAgent` with `llmToolSelectorMiddleware`,
 * turn by turn in one run, against one scripted server without latency in its own process. Below them stand two
 * floors: Winnow's two calls through its model seam alone, and the same bytes by bare fetches. Wall-clock times hold
 * the server's share and whatever else the machine does; processor times are of this process alone.
 *
 *   node test/bench/own-cost.mjs [--sizes 10,100,1000,2000] [--rounds 9] [--requests 20] [--out FILE] [--only winnow]
 */
import { fork } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { estimateTokens } from '../../dist/core/model/count-tokens.js';
import { makeCatalog, realCatalog, whereReal } from './bench-catalogs.mjs';
import {
  createLangChain,
  createRecorder,
  createTwoFetches,
  createTwoModelCalls,
  createWinnow,
} from './contestants.mjs';
import { renderResults } from './own-cost-table.mjs';
import { countFailures, messageOf, oneAfterTheOther, sideBySide } from './rounds.mjs';
import { median, spread } from './statistics.mjs';

const { values: flags } = parseArgs({
  options: {
    sizes: { type: 'string', default: '10,100,1000,2000' },
    rounds: { type: 'string', default: '9' },
    requests: { type: 'string', default: '20' },
    concurrency: { type: 'string', default: '64' },
    'no-real': { type: 'boolean', default: false },
    only: { type: 'string' },
    out: { type: 'string' },
  },
});
const [rounds, requests, concurrency] = [flags.rounds, flags.requests, flags.concurrency].map(Number);
const CONTESTANTS = {
  winnow: createWinnow,
  langchain: createLangChain,
  'two model calls': createTwoModelCalls,
  'two fetches': createTwoFetches,
};
const MAX_STARTS = 3;
const names = Object.keys(CONTESTANTS).filter((name) => flags.only === undefined || name === flags.only);

const catalogs = await Promise.all(flags.sizes.split(',').filter(Boolean).map(Number).map(makeCatalog));
const real = flags['no-real'] ? undefined : await realCatalog();
if (real) catalogs.push(real);
else if (!flags['no-real']) console.error(`The real catalogue is skipped: ${whereReal}.`);

const { origin, close } = await startServer(catalogs);
const results = [];
for (const catalog of catalogs) {
  console.error(`${catalog.label} ...`);
  // What is measured already is printed, whatever the next catalogue does.
  try {
    results.push(await measure(catalog));
  } catch (error) {
    process.exitCode = 1;
    console.error(`${catalog.label} is left out: ${messageOf(error)}`);
  }
}
close();
if (flags.out)
  writeFileSync(
    flags.out,
    `${JSON.stringify({ node: process.version, cpu: cpus()[0]?.model, rounds, requests, concurrency, results }, null, 2)}\n`,
  );
console.log(renderResults(results, { rounds, requests, concurrency }));

function startServer(all) {
  const child = fork(fileURLToPath(new URL('zero-latency-server.mjs', import.meta.url)), { execArgv: [] });
  const answers = Object.fromEntries(
    all.map(({ key, cases }) => [key, cases.map((one) => ({ names: one.names, plan: one.plan }))]),
  );
  child.send(answers);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', () => reject(new Error('The server ended.')));
    child.once('message', ({ port }) =>
      resolve({ origin: `http://127.0.0.1:${port}`, close: () => child.disconnect() }),
    );
  });
}

async function measure(catalog) {
  const runs = [];
  for (const name of names) {
    const begin = performance.now();
    const started = await start(name, catalog);
    if (!started) continue;
    const firstMs = performance.now() - begin;
    runs.push({ name, ...started, firstMs, medians: [], cpu: [], perSecond: [] });
  }
  // Compiled code and caches of both sides are warm before anything counts.
  for (const { run } of runs)
    for (let place = 0; place < 2 * requests; place++) await run(catalog.cases[place % catalog.cases.length]);
  for (let round = 0; round < rounds; round++) {
    const order = round % 2 === 0 ? runs : [...runs].reverse();
    for (const one of order) {
      const { ms, cpuMs } = await oneAfterTheOther(one.run, catalog.cases, requests);
      one.medians.push(ms);
      one.cpu.push(cpuMs);
    }
    const load = { total: Math.max(concurrency * 2, requests), concurrency };
    for (const one of order) one.perSecond.push(await sideBySide(one.run, catalog.cases, load));
  }
  const sent = Object.fromEntries(
    await Promise.all(['winnow', 'langchain'].map(async (name) => [name, await sentBy(name, catalog)])),
  );
  const contestants = runs.map(({ run: _, medians, cpu, perSecond, ...facts }) => ({
    ...facts,
    ms: spreadOf(medians),
    cpuMs: spreadOf(cpu),
    perSecond: spreadOf(perSecond),
    rounds: { medians, cpu, perSecond },
  }));
  return {
    catalog: catalog.key,
    label: catalog.label,
    tools: catalog.tools.length,
    contestants,
    sent,
    ...ratios(contestants),
  };
}

/** Its first request tells the facts of the contestant. One that never comes so far is left out, and that is told. */
async function start(name, catalog) {
  let failure;
  for (let attempt = 0; attempt < MAX_STARTS; attempt++) {
    try {
      const run = await CONTESTANTS[name](catalog, { origin });
      const facts = await run(catalog.cases[0]);
      return { ...facts, ...countFailures(run) };
    } catch (error) {
      failure = error;
    }
  }
  console.error(`${catalog.label}: ${name} is left out: ${messageOf(failure)}`);
  return undefined;
}

/** Of the rounds in which anything went well. */
function spreadOf(values) {
  const known = values.filter(Number.isFinite);
  return known.length === 0 ? undefined : spread(known);
}

/** Bytes and tokens of the two request bodies, medians over all cases. */
async function sentBy(name, catalog) {
  const { bodies, fetch, stop } = createRecorder();
  const { run } = countFailures(CONTESTANTS[name](catalog, { origin, fetch }));
  const pairs = [];
  for (const one of catalog.cases) {
    const isDone = await run(one);
    const sent = bodies.splice(0);
    if (isDone && sent.length === 2) pairs.push(sent);
  }
  stop();
  const calls = [0, 1].map((call) => pairs.map((sent) => sent[call]));
  const [first, second] = calls.map((texts) => ({
    bytes: median(texts.map((text) => Buffer.byteLength(text))),
    tokens: median(texts.map(estimateTokens)),
  }));
  return { first, second, bytes: first.bytes + second.bytes, tokens: first.tokens + second.tokens };
}

/** Round by round: how many times less time, how many times more requests a second; and what is Winnow's own. */
function ratios(contestants) {
  const of = (name) => contestants.find((one) => one.name === name)?.rounds;
  const [winnow, peer, calls] = ['winnow', 'langchain', 'two model calls'].map(of);
  const pairs = (one, other, compare) => spreadOf(one.map((value, round) => compare(value, other[round])));
  const divide = (a, b) => a / b;
  const comparison = winnow &&
    peer && {
      timesFaster: pairs(peer.medians, winnow.medians, divide),
      timesLessCpu: pairs(peer.cpu, winnow.cpu, divide),
      timesMore: pairs(winnow.perSecond, peer.perSecond, divide),
    };
  return {
    ...comparison,
    ...(winnow && calls ? { aboveTwoCallsMs: pairs(winnow.cpu, calls.cpu, (a, b) => a - b) } : {}),
  };
}
