/**
 * `tool_search` with many tools and many at once: how long searches take, builds, and whether answers pause meanwhile.
 *
 *   taskset -c 0,1 node --import ./test/support/typescript-loader.mjs test/bench/tool-search.mjs [--tools 10000] [--at-once 50]
 *
 * The tools are those of the public benchmarks where they lie beside the repository, else of the fixtures; repeated
 * under other names until there are enough. Each of the callers searches again as soon as it has its answer.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createDiscovery } from '../../src/agents/search/discovery.ts';
import { createCatalog } from '../../src/core/catalog/catalog.ts';
import { createScope } from '../../src/core/catalog/scope.ts';
import { parseTool } from '../../src/core/catalog/tool.ts';

const { values: flags } = parseArgs({
  options: {
    tools: { type: 'string', default: '10000' },
    'at-once': { type: 'string', default: '50' },
    searches: { type: 'string', default: '5000' },
  },
});
const count = Number(flags.tools);
const atOnce = Number(flags['at-once']);
const queries = readFileSync('fixtures/searches/coding-agent.jsonl', 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line).query);
const tools = manyTools(count);
let catalog = createCatalog(tools);

const discovery = createDiscovery({ catalog: () => catalog, index: { rebuildsItself: false } });
const built = await timed(() => discovery.index.rebuild());
console.log(
  `${count} tools indexed in ${built.toFixed(0)} ms: ${JSON.stringify({ ...discovery.index.status(), weights: undefined })}`,
);

const everyone = callerOf(() => true, 'all');
const restricted = callerOf((tool) => tool.risk !== 'high', 'no high risk');
// Compiled by then as in a server that has run for a while: the first thousands pay for that.
await load(everyone, 4000);
report(`${atOnce} at once, all visible`, await load(everyone, Number(flags.searches)));
report(`${atOnce} at once, policy hides some`, await load(restricted, Number(flags.searches)));
report('one after the other', await load(everyone, 1000, 1));

const watch = watchEventLoop();
catalog = createCatalog([...tools.slice(1), rename(tools[0], 'brand_new_tool')]);
discovery.index.setTools(catalog.tools);
const rebuilding = discovery.index.rebuild();
const during = await load(everyone, 500);
const rebuilt = await timed(() => rebuilding);
report(`${atOnce} at once, during a rebuild`, during);
console.log(
  `rebuild beside the searches: ${rebuilt.toFixed(0)} ms more; longest pause of the event loop ${watch().toFixed(1)} ms`,
);

function callerOf(isAllowed, audience) {
  const view = createScope(catalog)({});
  return { view, isAllowed, audience, isEnabled: () => false };
}

async function load(caller, total, callers = atOnce) {
  const times = [];
  const before = process.cpuUsage();
  let next = 0;
  const work = async () => {
    while (next < total) {
      const query = queries[next++ % queries.length];
      times.push(await timed(() => discovery.search({ query, top_k: 5, per_scope: false }, caller)));
      await new Promise(setImmediate);
    }
  };
  await Promise.all(Array.from({ length: callers }, work));
  const { user, system } = process.cpuUsage(before);
  return { times: times.sort((one, other) => one - other), cpu: (user + system) / 1000 / total };
}

/** From the moment that a caller asks until it has its answer, with the time that it waits behind the others. */
async function timed(work) {
  const start = performance.now();
  await new Promise(setImmediate);
  await work();
  return performance.now() - start;
}

function report(name, { times, cpu }) {
  const at = (share) => times[Math.min(times.length - 1, Math.floor(times.length * share))].toFixed(2);
  const spread = `median ${at(0.5)} ms, P95 ${at(0.95)} ms, P99 ${at(0.99)} ms, max ${at(1)} ms`;
  console.log(`${name}: ${times.length} searches, ${spread}; ${cpu.toFixed(3)} ms of processor time each`);
}

function watchEventLoop() {
  let longest = 0;
  let last = performance.now();
  const timer = setInterval(() => {
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
  }, 1);
  return () => {
    clearInterval(timer);
    return longest;
  };
}

function manyTools(wanted) {
  const entries = readEntries();
  return Array.from({ length: wanted }, (_, place) => {
    const entry = entries[place % entries.length];
    const round = Math.floor(place / entries.length);
    return toTool({ ...entry, name: round === 0 ? entry.name : `${entry.name}_${round}` }, place);
  });
}

function readEntries() {
  const folder = process.env.WINNOW_BENCHMARKS ?? '../shared/benchmarks';
  const sets = ['realmcp', 'metatool', 'bfcl', 'acebench_zh', 'stabletoolbench'].map((set) =>
    join(folder, `${set}.tools.json`),
  );
  const fixtures = ['coding-agent', 'hydrology', 'assistant'].map((name) => `fixtures/catalogs/${name}.json`);
  const read = (path) => JSON.parse(readFileSync(path, 'utf8'));
  const entries = [...fixtures, ...sets.filter((path) => existsSync(path))].flatMap(
    (path) => read(path).tools ?? read(path),
  );
  const names = new Set();
  return entries.filter((entry) => {
    const isUsable =
      parseTool({ ...entry, scope: 'system' }, { origin: 'bench', index: 0 }).ok && !names.has(entry.name);
    names.add(entry.name);
    return isUsable;
  });
}

function toTool(entry, index) {
  const parsed = parseTool({ ...entry, scope: 'system' }, { origin: 'bench', index });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.issues));
  return parsed.tool;
}

function rename(tool, name) {
  return { ...tool, name };
}

await sleep(0);
