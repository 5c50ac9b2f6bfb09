/**
 * What a request costs without the model: Winnow against LangChain's `createAgent` with `llmToolSelectorMiddleware`,
 * turn by turn in one run, against one scripted server without latency in its own process. Below them stand two
 * floors: Winnow's two calls through its model seam alone, and the same bytes by bare fetches.
 *
 *   node test/bench/own-cost.mjs [--sizes 10,100,1000,2000] [--rounds 9] [--requests 20] [--out FILE] [--only winnow]
 */
import { fork } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { estimateTokens } from '../../dist/model/count-tokens.js';
import { makeCatalog, realCatalog, whereReal } from './bench-catalogs.mjs';
import {
  createLangChain,
  createRecorder,
  createTwoFetches,
  createTwoModelCalls,
  createWinnow,
} from './contestants.mjs';
import { median, renderNumber, renderSpread, renderTable, spread } from './statistics.mjs';

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
const names = Object.keys(CONTESTANTS).filter((name) => flags.only === undefined || name === flags.only);

const catalogs = await Promise.all(flags.sizes.split(',').filter(Boolean).map(Number).map(makeCatalog));
const real = flags['no-real'] ? undefined : await realCatalog();
if (real) catalogs.push(real);
else if (!flags['no-real']) console.error(`The real catalogue is skipped: ${whereReal}.`);

const { origin, close } = await startServer(catalogs);
const results = [];
for (const catalog of catalogs) {
  console.error(`${catalog.label} ...`);
  results.push(await measure(catalog));
}
close();
if (flags.out)
  writeFileSync(
    flags.out,
    `${JSON.stringify({ node: process.version, cpu: cpus()[0]?.model, rounds, requests, concurrency, results }, null, 2)}\n`,
  );
console.log(render(results));

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
    const run = await CONTESTANTS[name](catalog, { origin });
    const facts = await run(catalog.cases[0]);
    runs.push({ name, run, ...facts, firstMs: performance.now() - begin, medians: [], perSecond: [] });
  }
  // Compiled code and caches of both sides are warm before anything counts.
  for (const { run } of runs)
    for (let place = 0; place < 2 * requests; place++) await run(catalog.cases[place % catalog.cases.length]);
  for (let round = 0; round < rounds; round++) {
    const order = round % 2 === 0 ? runs : [...runs].reverse();
    for (const one of order) one.medians.push(await oneAfterTheOther(one.run, catalog.cases));
    for (const one of order) one.perSecond.push(await sideBySide(one.run, catalog.cases));
  }
  const sent = Object.fromEntries(
    await Promise.all(['winnow', 'langchain'].map(async (name) => [name, await sentBy(name, catalog)])),
  );
  const contestants = runs.map(({ run: _, medians, perSecond, ...facts }) => ({
    ...facts,
    ms: spread(medians),
    perSecond: spread(perSecond),
    rounds: { medians, perSecond },
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

/** Median milliseconds of one request. */
async function oneAfterTheOther(run, cases) {
  const times = [];
  for (let place = 0; place < requests; place++) {
    const begin = performance.now();
    await run(cases[place % cases.length]);
    times.push(performance.now() - begin);
  }
  return median(times);
}

/** Requests a second when so many are under way all the time. */
async function sideBySide(run, cases) {
  const total = Math.max(concurrency * 2, requests);
  let next = 0;
  const work = async () => {
    while (next < total) await run(cases[next++ % cases.length]);
  };
  const begin = performance.now();
  await Promise.all(Array.from({ length: concurrency }, work));
  return total / ((performance.now() - begin) / 1000);
}

/** Bytes and tokens of the two request bodies, medians over all cases. */
async function sentBy(name, catalog) {
  const { bodies, fetch } = createRecorder();
  const run = CONTESTANTS[name](catalog, { origin, fetch });
  for (const one of catalog.cases) await run(one);
  const calls = [0, 1].map((call) => bodies.filter((_, place) => place % 2 === call));
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
  const pairs = (one, other, measure) => spread(one.map((value, round) => measure(value, other[round])));
  return {
    ...(winnow && peer
      ? {
          timesFaster: pairs(peer.medians, winnow.medians, (a, b) => a / b),
          timesMore: pairs(winnow.perSecond, peer.perSecond, (a, b) => a / b),
        }
      : {}),
    ...(winnow && calls ? { aboveTwoCallsMs: pairs(winnow.medians, calls.medians, (a, b) => a - b) } : {}),
  };
}

function render(all) {
  const column = (result, name, measure) => {
    const found = result.contestants.find((one) => one.name === name);
    return found ? renderSpread(found[measure]) : '-';
  };
  const maybe = (value) => (value ? renderSpread(value) : '-');
  const time = all.map((result) => [
    result.label,
    ...Object.keys(CONTESTANTS).map((name) => column(result, name, 'ms')),
    maybe(result.timesFaster),
    maybe(result.aboveTwoCallsMs),
  ]);
  const rate = all.map((result) => [
    result.label,
    column(result, 'winnow', 'perSecond'),
    column(result, 'langchain', 'perSecond'),
    maybe(result.timesMore),
  ]);
  const kilobytes = ({ bytes }) => renderNumber(bytes / 1000);
  const pair = ({ first, second }, show) => `${show(first)} + ${show(second)}`;
  const size = all.map(({ label, sent: { winnow, langchain }, contestants }) => [
    label,
    contestants.find((one) => one.name === 'winnow')?.rung ?? '-',
    ...[winnow, langchain].flatMap((sent) => [pair(sent, kilobytes), pair(sent, ({ tokens }) => renderNumber(tokens))]),
  ]);
  return [
    `Milliseconds a request: median of ${rounds} rounds of ${requests} (least and most of the rounds' medians)`,
    renderTable(
      ['catalogue', 'Winnow', 'LangChain', 'two model calls', 'two fetches', 'times less', 'own, above two calls'],
      time,
    ),
    `Requests a second, ${concurrency} at once in one process`,
    renderTable(['catalogue', 'Winnow', 'LangChain', 'times more'], rate),
    'What is sent, selection + second call',
    renderTable(['catalogue', 'summaries', 'Winnow kB', 'Winnow tokens', 'LangChain kB', 'LangChain tokens'], size),
  ].join('\n\n');
}
