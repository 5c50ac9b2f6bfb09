/** Writes the output files of a run: summary, records, JUnit file and page. */
import { createWriteStream, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { XMLBuilder } from 'fast-xml-parser';
import type { Comparison } from './compare.js';
import type { BarResult } from './gate.js';
import { METRICS } from './metrics.js';
import type { CaseRecord } from './record.js';
import { type ReportedRun, renderReport, toWriteError } from './report/render-report.js';
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
    await write('junit.xml', junitOf(summary, store.records, gate));
    const out = join(path, 'report.html');
    await renderReport({ ...(await reported(store, summary)), out });
    return out;
  }).catch((error) => {
    throw toWriteError(error);
  });
}

async function reported(store: RunStore, summary: RunSummary): Promise<ReportedRun> {
  const prompts = await store.prompts();
  const run = { ...summary, scores: Object.fromEntries(METRICS) };
  return { run, records: store.records(), promptText: (hash) => prompts.get(hash) };
}

/**
 * Writes the page of two compared runs to the file `out`.
 * @param folders of the runs
 * @throws WinnowError `not_found` where there is no run; `invalid_option` when the file can't be written
 */
export function writeComparisonPage(
  comparison: Comparison,
  [first, second]: readonly [string, string],
  out: string,
): Promise<void> {
  const { metrics, settings } = comparison;
  return withRun(first, (before) =>
    withRun(second, async (last) => {
      const earlier = { ...(await reported(before, comparison.first)), comparison: { metrics, settings } };
      return renderReport({ ...(await reported(last, comparison.second)), before: earlier, out });
    }),
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
