/** Files -> a set. Read once, checked line by line. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Catalog, createCatalog } from '../../../src/core/catalog/catalog.js';
import { loadCatalog } from '../../../src/core/catalog/load.js';
import { parseTool } from '../../../src/core/catalog/tool.js';
import type { EvaluationCase } from '../../../src/eval/case.js';
import { openCases } from '../../../src/eval/case-source.js';
import { randomFor, sampleOf } from '../../../src/eval/random.js';
import { offerCandidates, offerNeeded } from './offers.js';
import { type QualitySet, SETS, type SetMeaning } from './sets.js';

export interface LoadSetOptions {
  /** Folder of the public benchmarks. */
  benchmarks: string;
  /** So many cases, by chance with the seed; undefined: all. */
  sample: number | undefined;
  seed: number;
}

/** Undefined where the files of a benchmark are not there. @throws RangeError, WinnowError for a bad line, naming it */
export async function loadSet(id: string, options: LoadSetOptions): Promise<QualitySet | undefined> {
  const meaning = SETS[id];
  if (!meaning) throw new RangeError(`There is no set "${id}": use ${Object.keys(SETS).join(', ')}.`);
  const files = meaning.files ?? id;
  const paths = meaning.isFixture
    ? { tools: `fixtures/catalogs/${files}.json`, cases: `fixtures/cases/${files}.jsonl` }
    : {
        tools: join(options.benchmarks, `${files}.tools.json`),
        cases: join(options.benchmarks, `${files}.cases.jsonl`),
      };
  if (!existsSync(paths.tools) || !existsSync(paths.cases)) return undefined;
  const { catalog, notices } = meaning.isFixture ? await readFixture(paths.tools) : readBenchmark(paths.tools, files);
  const { seed, sample = Number.POSITIVE_INFINITY } = options;
  const suite = { name: id, catalog, caseFile: paths.cases };
  const source = await openCases([suite], { seed, needsCandidates: meaning.others !== undefined });
  const all: EvaluationCase[] = [];
  for await (const one of source.cases()) all.push(one);
  const judged = all.filter(isJudged);
  const cases = sampleOf(judged, sample, randomFor(seed, files));
  const left = all.length - judged.length;
  return {
    id,
    ...meaning,
    cases,
    catalogFor: offerOf(meaning, { catalog, cases, seed }),
    notices: [
      ...notices,
      ...source.notices,
      ...(left > 0 ? [`${left} cases are left out: a question is expected, and no tool to judge by`] : []),
    ],
  };
}

/** Of a case that wants a question back nothing is measured here; `winnow eval` judges it. */
function isJudged({ expected }: EvaluationCase): boolean {
  return expected.tools.length > 0 || expected.kind !== 'clarification';
}

function offerOf(
  { others, given }: SetMeaning,
  { catalog, cases, seed }: { catalog: Catalog; cases: readonly EvaluationCase[]; seed: number },
): QualitySet['catalogFor'] {
  if (others !== undefined) return offerCandidates(catalog, cases, { others, seed });
  return given === undefined ? () => catalog : offerNeeded(catalog, cases, { count: given, seed });
}

async function readFixture(path: string): Promise<{ catalog: Catalog; notices: string[] }> {
  const { catalog, issues } = await loadCatalog({ sources: [path], strict: true });
  return { catalog, notices: issues.filter(({ level }) => level === 'warning').map(({ message }) => message) };
}

/** The origin is the name of the set: it is part of what a model sees, and so of the key of every answer. */
function readBenchmark(path: string, origin: string): { catalog: Catalog; notices: string[] } {
  const entries: unknown = JSON.parse(readFileSync(path, 'utf8'));
  if (!Array.isArray(entries)) throw new TypeError(`${path} is no list of tools.`);
  const parsed = entries.map((entry, index) => parseTool(entry, { origin, index }));
  const tools = parsed.flatMap((one) => (one.ok ? [one.tool] : []));
  return {
    catalog: createCatalog(tools, { name: origin }),
    notices: parsed.flatMap((one) =>
      one.ok ? [] : one.issues.map(({ entry, message }) => `left out: ${entry} ${message}`),
    ),
  };
}
