/** Sets of cases for the benches, in halves, and what a case of each may use. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createScope } from '../../dist/core/catalog/scope.js';
import { parseCase } from '../../dist/eval/case.js';
import { offeredTools } from '../../dist/eval/case-runner.js';
import { randomFor, sampleOf } from '../../dist/eval/random.js';
import { expectedKind } from '../../dist/eval/score-case.js';
import { createModel, loadCatalog } from '../../dist/index.js';
import { halfOf } from './halves.mjs';
import { keepReadings } from './kept-readings.mjs';

/** Flags of all scripts that measure sets with a model, for `parseArgs`. */
export const SET_FLAGS = {
  set: { type: 'string', multiple: true },
  catalog: { type: 'string' },
  half: { type: 'string', default: 'all' },
  cases: { type: 'string' },
  seed: { type: 'string', default: '1' },
  benchmarks: { type: 'string', default: process.env.WINNOW_BENCHMARKS ?? '../shared/benchmarks' },
  'model-file': { type: 'string' },
  'base-url': { type: 'string' },
  model: { type: 'string' },
  kept: { type: 'string' },
};
/** A call and a request may take as long as the model takes, in milliseconds. */
export const LONGEST_MS = 86_400_000;

/** @param flags of `SET_FLAGS`. Without any the local model */
export async function openModel({ 'model-file': modelFile, 'base-url': baseUrl, model, kept }) {
  const opened = await createModel({ modelFile, baseUrl, model, callTimeoutMs: baseUrl && LONGEST_MS });
  return kept === undefined ? opened : keepReadings(opened, kept);
}

/** Of the 60 cases of NESTFUL that were looked at: a sample of all with this seed. */
const LOOKED_AT = { count: 60, seed: 1 };
const GIVEN = { only: 'plan', maxTools: 8, seed: 1 };
const AMONG = { only: 'select', maxTools: 8, distractors: 50, seed: 1 };
const CANDIDATES = { ...AMONG, distractors: 0 };
const FIXTURES = ['hydrology', 'assistant', 'coding-agent'];

/** Servers of the catalogue of real MCP tools. */
const SERVERS = {
  dev: ['github', 'slack', 'kubernetes', 'launchdarkly', 'circleci', 'postgres'],
  office: ['google-maps', 'xero', 'airtable', 'mongodb', 'filesystem', 'asana'],
};

const fixture = (name) => ({ cases: `fixtures/cases/${name}.jsonl`, catalog: `fixtures/catalogs/${name}.json` });

/**
 * `kind`: only cases that want it. What a case may use in place of the whole catalogue: `offer`, by `offeredTools`, or the tools of `servers`.
 */
function setsIn(folder) {
  const real = (name) => ({ cases: `test/bench/real/${name}.jsonl`, catalog: join(folder, 'realmcp.tools.json') });
  const benchmark = (name) => ({
    cases: join(folder, `${name}.cases.jsonl`),
    catalog: join(folder, `${name}.tools.json`),
  });
  return {
    ...Object.fromEntries(FIXTURES.map((name) => [name, { files: [fixture(name)], kind: 'plan' }])),
    exclusions: { files: [fixture('exclusions')] },
    'back-office': { files: [fixture('back-office')] },
    operations: { files: [fixture('operations')] },
    first: { files: [{ cases: 'fixtures/cases/first.jsonl' }] },
    abstention: { files: FIXTURES.map(fixture), kind: 'unplannable' },
    questions: { files: FIXTURES.map(fixture), kind: 'clarification' },
    restbench: { files: [benchmark('restbench')] },
    metatool: { files: [benchmark('metatool')] },
    stabletoolbench: { files: [benchmark('stabletoolbench')] },
    nestful: { files: [benchmark('nestful')], lookedAt: 'nestful' },
    'nestful-given': { files: [benchmark('nestful')], offer: GIVEN, lookedAt: 'nestful' },
    bfcl: { files: [benchmark('bfcl')], offer: AMONG },
    'bfcl-given': { files: [benchmark('bfcl')], offer: GIVEN },
    acebench: { files: [benchmark('acebench_zh')], offer: AMONG },
    'acebench-given': { files: [benchmark('acebench_zh')], offer: GIVEN },
    irrelevance: { files: [benchmark('bfcl_irrelevance')], offer: CANDIDATES },
    ...Object.fromEntries(
      Object.entries(SERVERS).map(([name, servers]) => [`real-${name}`, { files: [real(name)], servers }]),
    ),
  };
}

/**
 * @param flags of `SET_FLAGS`
 * @returns its cases, each with the file of its catalogue; undefined, with a word, where its files are missing
 */
export function openSet(name, flags) {
  const { half, cases: most, seed, benchmarks, catalog: own } = flags;
  if (!/^(?:learn|measure|all)$/u.test(half)) throw new Error(`--half ${half}: use learn, measure or all.`);
  const sets = setsIn(benchmarks);
  const isFile = sets[name] === undefined && own !== undefined && existsSync(name);
  const set = isFile ? { files: [{ cases: name, catalog: own }] } : sets[name];
  if (!set)
    throw new Error(`--set ${name}: use ${Object.keys(sets).join(', ')}, or a file of cases with --catalog FILE.`);
  const missing = set.files
    .flatMap(({ cases, catalog }) => [cases, catalog ?? cases])
    .find((file) => !existsSync(file));
  if (missing) {
    console.error(`${name} is skipped: ${missing} is not there (--benchmarks FOLDER, or WINNOW_BENCHMARKS).`);
    return undefined;
  }
  const all = set.files.flatMap((files) => readCases(name, files)).filter(({ expected }) => isJudged(expected, set));
  const seen = set.lookedAt && sampleOf(all, LOOKED_AT.count, randomFor(LOOKED_AT.seed, set.lookedAt));
  const halfOfCase = (one) => (seen ? (seen.includes(one) ? 'learn' : 'measure') : halfOf(one.id));
  const wanted = all.filter((one) => half === 'all' || halfOfCase(one) === half);
  const count = most === undefined ? wanted.length : Number(most);
  return { name, cases: sampleOf(wanted, count, randomFor(Number(seed), `plans:${name}`)), offerOf: offerOf(set) };
}

function readCases(suite, { cases: file, catalog }) {
  const lines = readFileSync(file, 'utf8').trim().split('\n');
  return lines.map((text, place) => ({
    ...parseCase(text, { suite, file, line: place + 1 }).case,
    catalogFile: catalog ?? JSON.parse(text).meta.catalog,
  }));
}

function isJudged(expected, { kind }) {
  if (kind !== undefined) return expectedKind(expected) === kind;
  return expected.tools.length > 0 || expected.kind !== 'clarification';
}

/** `(case, view)` -> what to add to its request. */
function offerOf({ offer, servers }) {
  if (offer) return (one, view) => ({ allow: offeredTools(one, view, offer) });
  if (!servers) return () => ({});
  const isOffered = ({ origin }) => servers.includes(origin);
  return (_, { tools }) => ({ allow: tools.filter(isOffered).map(({ name }) => name) });
}

const catalogs = new Map();

/** @returns the catalogue of a file, and what a request sees of it; each file is read once */
export async function openCatalog(file) {
  if (!catalogs.has(file)) {
    const { catalog } = await loadCatalog({ sources: [file] });
    catalogs.set(file, { catalog, viewOf: createScope(catalog) });
  }
  return catalogs.get(file);
}
