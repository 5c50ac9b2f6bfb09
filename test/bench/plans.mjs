/**
 * Plans of named sets with a real model, scored as `winnow eval` scores them. Every case becomes one line of `--out`;
 * `--resume` goes on behind the last one.
 *
 *   npm run build && node test/bench/plans.mjs --set hydrology --set first [--half learn|measure|all] [--cases 20]
 *     [--seed 1] [--out FILE.jsonl] [--resume] [--dry] [--options '{"maxTools":8}'] [--today 2025-11-21]
 *     [--set FILE.cases.jsonl --catalog FILE] [--benchmarks FOLDER] [--model-file FILE | --base-url URL --model NAME]
 *     [--kept FILE]
 *
 * A case belongs to the half `learn` where the first bit of the SHA-256 of its id is 0, else to `measure`. NESTFUL is split
 * by what earlier work looked at: those 60 cases are `learn`, the other 83 `measure`. `--dry` gives the expected plans
 * back in place of a model: every one must be right.
 */
import { appendFileSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { defaultsIn } from '../../dist/eval/plan-scores.js';
import { toPlanValue } from '../../dist/eval/references.js';
import { expectedKind, scoreCase } from '../../dist/eval/score-case.js';
import { isSameValue } from '../../dist/eval/values.js';
import { createPlanner } from '../../dist/index.js';
import { renderMean } from './halves.mjs';
import { LONGEST_MS, openCatalog, openModel, openSet, SET_FLAGS } from './sets.mjs';
import { median, renderNumber, renderTable } from './statistics.mjs';

const { values: flags } = parseArgs({
  options: {
    ...SET_FLAGS,
    out: { type: 'string' },
    resume: { type: 'boolean', default: false },
    dry: { type: 'boolean', default: false },
    options: { type: 'string', default: '{}' },
    today: { type: 'string', default: '2025-11-21' },
  },
});
const planners = new Map();

/** One a catalogue. */
function plannerOf(file, catalog, model) {
  const options = { timeoutMs: LONGEST_MS, ...JSON.parse(flags.options) };
  if (!planners.has(file)) planners.set(file, createPlanner({ catalog, model, options }));
  return planners.get(file);
}

/** One case -> its line. */
async function planCase({ name, offerOf }, one, model) {
  const { catalog, viewOf } = await openCatalog(one.catalogFile);
  const view = viewOf(one.request);
  const start = performance.now();
  const request = { today: flags.today, ...one.request, ...offerOf(one, view) };
  const result = model ? await ask(plannerOf(one.catalogFile, catalog, model), request) : expectedResult(one.expected);
  const seconds = Number(((performance.now() - start) / 1000).toFixed(2));
  const spent = [result.usage?.selection, result.usage?.planning].filter(Boolean);
  const sum = (key) => spent.reduce((total, usage) => total + usage[key], 0);
  const usage = { read: sum('read'), cached: sum('cached'), written: sum('written') };
  return { set: name, ...judge(one, result, view), query: one.request.message, seconds, usage };
}

/** A failure is a result, too: that of no plan. */
async function ask(planner, request) {
  try {
    return await planner.plan(request);
  } catch (error) {
    const kind = error.code === 'plan_invalid' ? 'plan_invalid' : 'error';
    return { kind, reason: `${error.code}: ${error.issues?.[0] ?? error.message}` };
  }
}

/** What a planner that makes no mistake gives. */
function expectedResult(expected) {
  const { tools, edges = [], steps = tools.map((tool) => ({ tool, arguments: {} })) } = expected;
  const written = steps.map(({ tool, arguments: values }, place) => ({
    id: `s${place + 1}`,
    tool,
    purpose: '',
    arguments: toPlanValue(values, place, (from) => `s${from + 1}`),
    dependsOn: edges.filter(([, to]) => to === place).map(([from]) => `s${from + 1}`),
  }));
  return { kind: expectedKind(expected), steps: written };
}

function judge(one, result, { byName }) {
  const { expected, ignoreCase, excluded = [] } = one;
  const steps = result.steps ?? [];
  const { scores, cause } = scoreCase({
    expected,
    ignoreCase,
    defaultOf: defaultsIn(byName),
    result: { kind: result.kind === 'error' ? 'plan_invalid' : result.kind, steps },
    schemaTokens: { all: 0, loaded: 0 },
  });
  const wanted = expectedKind(expected);
  return {
    id: one.id,
    ok: scores.right === 1,
    kind: result.kind,
    wanted,
    ...(cause === undefined ? {} : { cause }),
    steps: steps.map(({ tool, arguments: values }) => ({ tool, arguments: values })),
    expected: expected.steps ?? expected.tools,
    scores: { nodeF1: scores.nodeF1, edgeF1: scores.edgeF1, values: scores.argumentValueF1 },
    ...(excluded.length > 0 ? { touched: touchedValues(steps, excluded) } : {}),
    reason: result.reason ?? result.question ?? '',
  };
}

/**
 * The excluded values that an argument holds, as a value of its own or as one of several in a text with commas. Free text
 * that merely mentions one does not count.
 */
function touchedValues(steps, excluded) {
  const held = steps.flatMap((step) => scalarsIn(step.arguments));
  return excluded.filter((value) => held.some((one) => isSameValue(value, one, { ignoreCase: true })));
}

function scalarsIn(value) {
  if (typeof value === 'object' && value !== null) return Object.values(value).flatMap(scalarsIn);
  return typeof value === 'string' ? [value, ...value.split(/[,;，；、]/u)] : [value];
}

const isPlanWanted = ({ wanted }) => wanted === 'plan';
const right = ({ ok }) => Number(ok);
/** Head of a column -> its cell, of the lines of a set. */
const COLUMNS = {
  n: (lines) => lines.length,
  'right as a whole': (lines) => renderMean(lines.filter(isPlanWanted).map(right)),
  'node F1': (lines) => renderMean(lines.flatMap(({ scores }) => scores.nodeF1 ?? [])),
  'edge F1': (lines) => renderMean(lines.flatMap(({ scores }) => scores.edgeF1 ?? [])),
  values: (lines) => renderMean(lines.flatMap(({ scores }) => scores.values ?? [])),
  'abstention right': (lines) => renderMean(lines.filter((line) => !isPlanWanted(line)).map(right)),
  'fit requests lost': (lines) => shareOf(lines.filter(isPlanWanted), ({ kind }) => kind === 'unplannable'),
  'asked back': (lines) => shareOf(lines.filter(isPlanWanted), ({ kind }) => kind === 'clarification'),
  'no valid plan': (lines) => shareOf(lines, ({ kind }) => kind === 'plan_invalid' || kind === 'error'),
  'excluded touched': (lines) =>
    shareOf(
      lines.filter(({ touched }) => touched),
      ({ touched }) => touched.length > 0,
    ),
  s: (lines) => middle(lines.map(({ seconds }) => seconds)),
  read: (lines) => middle(lines.map(({ usage }) => usage.read)),
  written: (lines) => middle(lines.map(({ usage }) => usage.written)),
};

const middle = (values) => (values.length > 0 ? renderNumber(median(values)) : '');

function shareOf(lines, isOne) {
  return lines.length > 0 ? `${lines.filter(isOne).length} of ${lines.length}` : '';
}

const sets = [...new Set(flags.set ?? ['first'])].flatMap((name) => openSet(name, flags) ?? []);
const work = sets.flatMap((set) => set.cases.map((one) => ({ set, one })));
if (flags.out && !flags.resume) rmSync(flags.out, { force: true });
const known = flags.out && existsSync(flags.out) ? readFileSync(flags.out, 'utf8').trim().split('\n') : [];
const done = known.flatMap((text) => (text ? [JSON.parse(text)] : [])).filter(({ kind }) => kind !== 'error');
const keyOf = (set, id) => `${set} ${id}`;
const lines = new Map(done.map((line) => [keyOf(line.set, line.id), line]));
const model = flags.dry ? undefined : await openModel(flags);
for (const [place, { set, one }] of work.entries()) {
  const key = keyOf(set.name, one.id);
  if (lines.has(key)) continue;
  const line = await planCase(set, one, model);
  lines.set(key, line);
  if (flags.out) appendFileSync(flags.out, `${JSON.stringify(line)}\n`);
  if (model) console.error(`${place + 1}/${work.length} ${key} ${line.ok ? 'right' : line.cause} ${line.seconds} s`);
}
const linesOf = ({ name, cases }) => cases.map(({ id }) => lines.get(keyOf(name, id)));
const rows = sets.map((set) => [set.name, ...Object.values(COLUMNS).map((cellOf) => cellOf(linesOf(set)))]);
console.log(renderTable(['set', ...Object.keys(COLUMNS)], rows));
await model?.close();
const wrong = flags.dry ? sets.flatMap(linesOf).filter(({ ok }) => !ok) : [];
for (const { set, id, cause } of wrong) console.error(`${set} ${id}: ${cause}`);
process.exit(wrong.length > 0 ? 1 : 0);
