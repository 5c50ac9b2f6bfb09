/** Writes the output files of a run: summary, records, table, JUnit file and page. */
import { createWriteStream, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { stringify } from 'csv-stringify';
import { XMLBuilder } from 'fast-xml-parser';
import { sumUsage } from '../core/model/model.js';
import type { Comparison } from './compare.js';
import type { BarResult } from './gate.js';
import { METRICS, SCORES } from './metrics.js';
import type { CaseRecord } from './record.js';
import { type ReportedRun, type ReportParts, renderReport, toWriteError } from './report/render-report.js';
import { type RunStore, withRun } from './run-store.js';
import type { RunSummary } from './run-summary.js';

/** @returns the path of the page. @throws WinnowError `invalid_option` when it can't be written */
export function writeOutputs(path: string, summary: RunSummary, gate: readonly BarResult[]): Promise<string> {
  return withRun(path, async (store) => {
    const write = (name: string, text: AsyncIterable<string>) =>
      pipeline(Readable.from(text), createWriteStream(join(path, name)));
    writeFileSync(join(path, 'run.json'), `${JSON.stringify(summary, null, 2)}\n`);
    async function* lines() {
      for await (const record of store.records()) yield `${JSON.stringify(record)}\n`;
    }
    await write('cases.jsonl', lines());
    await writeCsv(store.records(), summary, join(path, 'cases.csv'));
    await write('junit.xml', junitOf(summary, store.records, gate));
    const out = join(path, 'report.html');
    await renderReport({ ...(await reported(store, summary)), out });
    return out;
  }).catch((error) => {
    throw toWriteError(error);
  });
}

export async function reported(store: RunStore, summary: RunSummary): Promise<ReportedRun> {
  const prompts = await store.prompts();
  const run = { ...summary, scores: Object.fromEntries(METRICS) };
  return { run, records: store.records(), promptText: (hash) => prompts.get(hash) };
}

/**
 * Opens two compared runs for the work on their report.
 * @param folders of the runs
 * @throws WinnowError `not_found` where there is no run
 */
export function withCompared<Result>(
  { first, second, metrics, settings }: Comparison,
  folders: readonly [string, string],
  work: (parts: ReportParts) => Promise<Result>,
): Promise<Result> {
  return withRun(folders[0], (before) =>
    withRun(folders[1], async (last) => {
      const earlier = { ...(await reported(before, first)), comparison: { metrics, settings } };
      return work({ ...(await reported(last, second)), before: earlier });
    }),
  );
}

/** Writes the page of two compared runs. @throws WinnowError as `withCompared`; `invalid_option` when it can't be written */
export function writeComparisonPage(
  comparison: Comparison,
  folders: readonly [string, string],
  out: string,
): Promise<void> {
  return withCompared(comparison, folders, (parts) => renderReport({ ...parts, out }));
}

const FACTS = ['id', 'suite', 'repeat', 'lang', 'tags', 'query', 'outcome', 'cause', 'expected', 'got', 'kind'];
const COSTS = ['read', 'cached', 'written', 'schemaTokens', 'cost', 'milliseconds'];

/** One row for each case and repeat, one column for each score that any case has. Escapes texts that begin like formulas. */
async function writeCsv(records: AsyncIterable<CaseRecord>, { metrics }: RunSummary, out: string): Promise<void> {
  const scores = metrics.filter(({ name, count }) => count > 0 && SCORES.has(name)).map(({ name }) => name);
  async function* rows() {
    for await (const record of records) {
      const { id, suite, repeat, lang, tags, query, outcome, cause, expected, usage, result } = record;
      const got = record.selection?.tools.map(({ name }) => name).join(' ');
      const { read, cached, written } = sumUsage(usage.selection, usage.planning);
      yield [
        ...[
          id,
          suite,
          repeat,
          lang,
          tags.join(' '),
          query,
          outcome,
          cause,
          expected.tools.join(' '),
          got,
          result?.kind,
        ],
        ...scores.map((name) => record.scores[name]),
        ...[read, cached, written, usage.schemaTokens.loaded, record.cost, record.milliseconds.total],
      ];
    }
  }
  const columns = [...FACTS, ...scores, ...COSTS];
  await pipeline(
    Readable.from(rows()),
    stringify({ header: true, columns, escape_formulas: true }),
    createWriteStream(out),
  );
}

/** A suite for each set of cases, and one for the bars. It streams cases, since there may be any number. */
async function* junitOf(
  summary: RunSummary,
  records: () => AsyncIterable<CaseRecord>,
  gate: readonly BarResult[],
): AsyncGenerator<string> {
  yield openSuites(summary.name);
  for (const { name, counts } of summary.suites) {
    yield openSuite(name, [counts.done, counts.wrong, counts.errors], summary.startedAt);
    for await (const record of records()) if (record.suite === name) yield renderCase(record);
    yield '</testsuite>\n';
  }
  yield* closeSuites(gate, summary.startedAt);
}

/** Unjudged cases pass, for example those with a skipped selection. */
function renderCase(record: CaseRecord): string {
  const { id, suite = '', repeat, query, cause = 'wrong', error, scores, expected, selection, milliseconds } = record;
  const got = selection?.tools.map((tool) => tool.name).join(' ') ?? '';
  const facts = `${query}\nexpected: ${expected.tools.join(' ') || 'no tool'}\ngot: ${got || 'no tool'}`;
  const isWrong = !error && scores.right === 0;
  return testCase(suite, repeat === 0 ? id : `${id} (repeat ${repeat})`, {
    '@time': (milliseconds.total / 1_000).toFixed(3),
    ...(error ? { error: { '@type': error.code, '@message': error.message, '#text': facts } } : {}),
    ...(isWrong ? { failure: { '@type': cause, '@message': cause, '#text': facts } } : {}),
  });
}

/**
 * Lost cases of a comparison fail; cases without a change are counted, not listed.
 * @throws WinnowError `invalid_option` when it can't be written
 */
export function writeComparisonJUnit(comparison: Comparison, gate: readonly BarResult[], out: string): void {
  const { first, second, won, lost, cases } = comparison;
  const title = `${first.name} and ${second.name}`;
  const lines = [
    openSuites(title),
    openSuite(`${title}: ${cases} cases in both`, [lost.length + won.length, lost.length, 0], second.startedAt),
    ...lost.map((id) =>
      testCase('comparison', id, { failure: { '@type': 'lost', '@message': `right in ${first.name} only` } }),
    ),
    ...won.map((id) => testCase('comparison', id, { 'system-out': `right in ${second.name} only` })),
    '</testsuite>\n',
    ...closeSuites(gate, second.startedAt),
  ];
  try {
    writeFileSync(out, lines.join(''));
  } catch (error) {
    throw toWriteError(error, out);
  }
}

function openSuites(name: string): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="${attribute(name)}">\n`;
}

function openSuite(name: string, [tests, failures, errors]: readonly number[], timestamp: string): string {
  const numbers = `tests="${tests}" failures="${failures}" errors="${errors}"`;
  return `<testsuite name="${attribute(name)}" ${numbers} timestamp="${attribute(timestamp)}">\n`;
}

/** Adds a suite of the bars, where there are any. */
function* closeSuites(gate: readonly BarResult[], timestamp: string): Generator<string> {
  if (gate.length > 0) {
    yield openSuite('gate', [gate.length, gate.filter(({ passed }) => !passed).length, 0], timestamp);
    for (const { bar, passed, found } of gate)
      yield testCase('gate', bar, passed ? {} : { failure: { '@type': 'gate', '@message': found } });
    yield '</testsuite>\n';
  }
  yield '</testsuites>\n';
}

const builder = new XMLBuilder({ ignoreAttributes: false, attributeNamePrefix: '@', suppressEmptyNode: true });

/** `@name` is an attribute, `#text` the content of an element. */
function testCase(suite: string, name: string, content: Record<string, unknown>): string {
  return `${builder.build({ testcase: cleaned({ '@classname': suite, '@name': name, ...content }) })}\n`;
}

/** Characters that XML 1.0 can't represent. */
const FORBIDDEN = /(?![\t\n\r])\p{Cc}|\p{Cs}|[\uFFFE\uFFFF]/gu;

function cleaned(value: unknown): unknown {
  if (typeof value === 'string') return value.replace(FORBIDDEN, '\uFFFD');
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, cleaned(inner)]));
}

function attribute(text: string): string {
  const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
  return text.replace(FORBIDDEN, '\uFFFD').replace(/[&<>"]/gu, (character) => escapes[character] ?? character);
}
