/**
 * How many of the needed tools are among those handed on: Winnow, Winnow with each part taken away, keywords alone.
 *
 *   npm run bench:select -- --set ../shared/benchmarks/restbench [--every 4] [--max-tools 8] [--ways all] [--out DIR]
 *
 * The set is read from SET.tools.json and SET.cases.jsonl. Answers of the model are kept in DIR and used again.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { createCatalog, createModel, createPlanner, parseTool } from '../../dist/index.js';
import { createKeywordIndex } from '../../dist/search/keyword-index.js';
import { rememberAnswers } from './answer-cache.mjs';
import { bootstrapInterval, mean } from './intervals.mjs';

const { values: flags } = parseArgs({
  options: {
    set: { type: 'string', default: '../shared/benchmarks/restbench' },
    every: { type: 'string', default: '1' },
    'max-tools': { type: 'string', default: '8' },
    ways: { type: 'string', default: 'rank' },
    out: { type: 'string', default: '.winnow/bench' },
    failures: { type: 'boolean', default: false },
    'base-url': { type: 'string' },
    model: { type: 'string' },
  },
});

/** Options of the planner that make each way. */
const WAYS = {
  rank: {},
  'rank, no producers': { producers: false },
  'rank, no complements': { complements: false },
  'rank, no fill': { fill: false },
  'rank alone (no producers, complements)': { producers: false, complements: false, fill: false, core: 8 },
  'rank and keywords in turn': { producers: false, complements: false, core: 1 },
  'core 2': { core: 2 },
  'core 3': { core: 3 },
  list: { answer: 'list' },
  'list, no producers': { answer: 'list', producers: false },
  'list alone': { answer: 'list', producers: false, fill: false },
};

const maxTools = Number(flags['max-tools']);
const entries = JSON.parse(readFileSync(`${flags.set}.tools.json`, 'utf8'));
const tools = entries
  .map((entry, index) => parseTool(entry, { origin: basename(flags.set), index }))
  .flatMap((parsed) => (parsed.ok ? [parsed.tool] : []));
const cases = readFileSync(`${flags.set}.cases.jsonl`, 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line))
  .filter((_, place) => place % Number(flags.every) === 0);
const catalog = createCatalog(tools);
const model = rememberAnswers(
  await createModel({ baseUrl: flags['base-url'], model: flags.model }),
  join(flags.out, `${basename(flags.set)}.answers.jsonl`),
);

const ways = flags.ways === 'all' ? Object.keys(WAYS) : flags.ways.split(';').map((way) => way.trim());
const rows = [scoreKeywords()];
for (const way of ways) rows.push(await scoreWay(way, WAYS[way]));
mkdirSync(flags.out, { recursive: true });
writeFileSync(join(flags.out, `${basename(flags.set)}.json`), JSON.stringify(rows, null, 2));
console.log(
  `${basename(flags.set)}: ${cases.length} cases, ${tools.length} tools, at most ${maxTools} handed on, ${model.id}\n`,
);
console.log('| way | recall | all needed there | tools | s (median of fresh answers) |\n|---|---|---|---|---|');
for (const row of rows)
  console.log(
    `| ${row.way} | ${show(row.recall)} | ${show(row.all)} | ${mean(row.counts).toFixed(1)} | ${row.seconds} |`,
  );
await model.close();
process.exit(0);

async function scoreWay(way, options) {
  const planner = createPlanner({
    catalog,
    model,
    options: { ...options, maxTools, passthroughTools: 0, passthroughTokens: 0 },
  });
  const scored = [];
  for (const [place, one] of cases.entries()) {
    const { tools: selected, usage, mode } = await planner.select({ message: one.query });
    scored.push(
      score(
        one,
        selected.map((tool) => tool.name),
        usage.selection.read > 0 ? usage.milliseconds / 1000 : undefined,
        mode,
      ),
    );
    if (process.stderr.isTTY || place % 20 === 19)
      process.stderr.write(
        `${way}: ${place + 1}/${cases.length}, recall ${mean(scored.map((s) => s.recall)).toFixed(3)}\n`,
      );
  }
  return summary(way, scored);
}

function scoreKeywords() {
  const index = createKeywordIndex(tools);
  return summary(
    'keywords alone',
    cases.map((one) =>
      score(
        one,
        index.search(one.query, maxTools).map((match) => match.tool.name),
      ),
    ),
  );
}

function score(one, names, seconds, mode) {
  const found = one.expectedTools.filter((name) => names.includes(name)).length;
  const needed = Math.max(1, one.expectedTools.length);
  if (flags.failures && found < one.expectedTools.length) {
    console.log(
      `${one.query}\n  missing: ${one.expectedTools.filter((name) => !names.includes(name)).join(' ')}\n  chosen: ${names.join(' ')}`,
    );
  }
  return {
    recall: one.expectedTools.length === 0 ? 1 : found / needed,
    all: found === one.expectedTools.length ? 1 : 0,
    count: names.length,
    seconds,
    mode,
  };
}

function summary(way, scored) {
  const times = scored.flatMap((s) => (s.seconds === undefined ? [] : [s.seconds])).sort((a, b) => a - b);
  const seconds = times.length > 0 ? times[Math.floor(times.length / 2)].toFixed(1) : '–';
  return {
    way,
    recall: scored.map((s) => s.recall),
    all: scored.map((s) => s.all),
    counts: scored.map((s) => s.count),
    modes: scored.map((s) => s.mode),
    seconds,
  };
}

function show(numbers) {
  const [low, high] = bootstrapInterval(numbers);
  return `${mean(numbers).toFixed(3)} (${low.toFixed(2)}–${high.toFixed(2)})`;
}
