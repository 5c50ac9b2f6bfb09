/**
 * How good plans are where the right tools are given: the needed ones and others, up to 8, by chance with a seed.
 *
 *   npm run bench:plan -- --set ../shared/benchmarks/nestful [--every 2] [--limit 60] [--tools 8] [--out DIR]
 *
 * Node F1: tools of the steps as multisets. Argument-name F1, argument-value F1: over the steps matched by tool, in
 * order; a value that comes from an earlier step is right when it refers to the matched step (and to the named field,
 * where the gold names one). Edge F1: pairs of matched steps. As in NESTFUL (Basu et al., 2024), per case, averaged.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { createCatalog, createModel, createPlanner, parseTool } from '../../dist/index.js';
import { rememberAnswers } from './answer-cache.mjs';
import { bootstrapInterval, mean } from './intervals.mjs';

const { values: flags } = parseArgs({
  options: {
    set: { type: 'string', default: '../shared/benchmarks/nestful' },
    every: { type: 'string', default: '1' },
    limit: { type: 'string', default: '60' },
    tools: { type: 'string', default: '8' },
    out: { type: 'string', default: '.winnow/bench' },
    show: { type: 'boolean', default: false },
    'base-url': { type: 'string' },
    model: { type: 'string' },
  },
});

const entries = JSON.parse(readFileSync(`${flags.set}.tools.json`, 'utf8'));
const tools = new Map(
  entries.flatMap((entry, index) => {
    const parsed = parseTool({ toolType: 'builtin', ...entry }, { origin: basename(flags.set), index });
    return parsed.ok ? [[parsed.tool.name, parsed.tool]] : [];
  }),
);
const cases = readFileSync(`${flags.set}.cases.jsonl`, 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line))
  .filter((one, place) => place % Number(flags.every) === 0 && one.expectedSteps?.length > 0)
  .slice(0, Number(flags.limit));
const model = rememberAnswers(
  await createModel({ baseUrl: flags['base-url'], model: flags.model }),
  join(flags.out, `${basename(flags.set)}.plans.jsonl`),
);

const rows = [];
for (const [place, one] of cases.entries()) {
  const planner = createPlanner({ catalog: createCatalog(offered(one, place)), model });
  const start = performance.now();
  const result = await planner
    .plan({ message: one.query })
    .catch((error) => ({ kind: error.code, issues: error.issues }));
  const row = {
    id: one.id,
    kind: result.kind,
    seconds: (performance.now() - start) / 1000,
    ...score(one, result.steps ?? []),
  };
  rows.push(row);
  const repaired = result.trace?.some((event) => event.note.includes('repaired'));
  process.stderr.write(
    `${place + 1}/${cases.length} ${row.kind}${repaired ? ' (repaired)' : ''} node ${mean(rows.map((r) => r.node)).toFixed(2)} names ${mean(rows.map((r) => r.names)).toFixed(2)} values ${mean(rows.map((r) => r.values)).toFixed(2)} edges ${mean(rows.flatMap((r) => r.edges ?? [])).toFixed(2)} ${row.seconds.toFixed(0)} s\n`,
  );
  if (flags.show)
    console.log(
      one.query,
      '\n  GOLD',
      JSON.stringify(one.expectedSteps),
      '\n  GOT ',
      JSON.stringify(result.steps?.map((s) => [s.tool, s.arguments]) ?? result),
    );
}
mkdirSync(flags.out, { recursive: true });
writeFileSync(join(flags.out, `${basename(flags.set)}.plans.json`), JSON.stringify(rows, null, 2));
const show = (numbers) =>
  `${mean(numbers).toFixed(3)} (${bootstrapInterval(numbers)
    .map((n) => n.toFixed(2))
    .join('–')})`;
console.log(`${basename(flags.set)}: ${rows.length} cases, ${flags.tools} tools each, ${model.id}\n`);
console.log('| plans | node F1 | argument names | argument values | edges |\n|---|---|---|---|---|');
const edges = rows.flatMap((row) => row.edges ?? []);
console.log(
  `| ${rows.filter((row) => row.kind === 'plan').length} of ${rows.length} | ${show(rows.map((r) => r.node))} | ${show(rows.map((r) => r.names))} | ${show(rows.map((r) => r.values))} | ${show(edges)} |`,
);
await model.close();
process.exit(0);

/** The needed tools and others, in an order that tells nothing. */
function offered(one, seed) {
  let state = seed * 7919 + 17;
  const random = () => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return state / 2147483648;
  };
  const names = [...new Set(one.expectedSteps.map((step) => step.tool))];
  const others = [...tools.keys()].filter((name) => !names.includes(name));
  while (names.length < Number(flags.tools) && others.length > 0)
    names.push(others.splice(Math.floor(random() * others.length), 1)[0]);
  return names
    .map((name) => [random(), name])
    .sort((a, b) => a[0] - b[0])
    .map(([, name]) => tools.get(name));
}

function score(one, steps) {
  const gold = one.expectedSteps;
  const matchOf = new Map();
  const taken = new Set();
  for (const [index, step] of gold.entries()) {
    const found = steps.findIndex((other, place) => other.tool === step.tool && !taken.has(place));
    if (found >= 0) {
      taken.add(found);
      matchOf.set(index, found);
    }
  }
  const node = f1(matchOf.size, gold.length, steps.length);
  const names = { hit: 0, gold: 0, got: 0 };
  let valueHits = 0;
  for (const [index, step] of gold.entries()) {
    const wanted = Object.entries(step.arguments ?? {});
    const got = matchOf.has(index) ? steps[matchOf.get(index)].arguments : {};
    names.gold += wanted.length;
    for (const [name, value] of wanted) {
      if (!(name in got)) continue;
      names.hit++;
      if (isRight(value, got[name], { matchOf, accepted: step.argumentsAnyOf?.[name] })) valueHits++;
    }
  }
  names.got = steps.reduce((sum, step) => sum + Object.keys(step.arguments).length, 0);
  const optional = gold.reduce(
    (sum, step, index) =>
      sum +
      (matchOf.has(index)
        ? Object.entries(step.argumentsAnyOf ?? {}).filter(
            ([name, list]) =>
              list.includes('') && !(name in (step.arguments ?? {})) && name in steps[matchOf.get(index)].arguments,
          ).length
        : 0),
    0,
  );
  const goldEdges = one.expectedEdges ?? [];
  const gotEdges = steps.flatMap((step, to) => step.dependsOn.map((id) => [Number(id.slice(1)) - 1, to]));
  const edgeHits = goldEdges.filter(([from, to]) =>
    gotEdges.some(([a, b]) => a === matchOf.get(from) && b === matchOf.get(to)),
  ).length;
  return {
    node,
    names: f1(names.hit, names.gold, names.got - optional),
    values: f1(valueHits, names.gold, names.got - optional),
    edges: goldEdges.length > 0 ? [f1(edgeHits, goldEdges.length, gotEdges.length)] : undefined,
  };
}

function isRight(gold, got, { matchOf, accepted }) {
  if (accepted?.some((value) => same(value, got))) return true;
  const reference = typeof gold === 'string' ? /^\$(\d+)(?:\.(.+))?$/u.exec(gold) : null;
  if (!reference) return same(gold, got);
  const written = typeof got === 'string' ? /^\$\{s(\d+)((?:\.[^.[\]}]+|\[\d+\])*)\}$/u.exec(got) : null;
  if (!written || Number(written[1]) - 1 !== matchOf.get(Number(reference[1]))) return false;
  const field = (text) =>
    (text ?? '')
      .split(/[.[\]]/u)
      .filter(Boolean)
      .at(-1);
  return reference[2] === undefined || field(reference[2]) === field(written[2]);
}

function same(one, other) {
  const plain = (value) =>
    typeof value === 'string' && value.trim() !== '' && Number.isFinite(Number(value)) ? Number(value) : value;
  return JSON.stringify(plain(one)).toLowerCase() === JSON.stringify(plain(other)).toLowerCase();
}

function f1(hit, gold, got) {
  if (gold === 0 && got === 0) return 1;
  return (2 * hit) / (gold + got);
}
