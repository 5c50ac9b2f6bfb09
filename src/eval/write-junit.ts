/** A run as JUnit XML, for build servers: a suite for each set of cases, and one for the bars of the gate. */
import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { BarResult } from './gate.js';
import { attribute, gateSuite, JUNIT_HEAD, openSuite, render } from './junit.js';
import type { CaseRecord } from './record.js';
import type { RunSummary } from './run-summary.js';

export interface JUnitParts {
  summary: RunSummary;
  /** Read once for each suite. */
  records: () => AsyncIterable<CaseRecord>;
  gate: readonly BarResult[];
  out: string;
}

/** A case is written as it is read: the file may have any number. */
export async function writeJUnit(parts: JUnitParts): Promise<void> {
  await pipeline(Readable.from(piecesOf(parts)), createWriteStream(parts.out));
}

async function* piecesOf({ summary, records, gate }: JUnitParts): AsyncGenerator<string> {
  yield `${JUNIT_HEAD}<testsuites name="${attribute(summary.name)}">\n`;
  for (const { name, counts } of summary.suites) {
    const facts = { tests: counts.done, failures: counts.wrong, errors: counts.errors };
    yield openSuite(name, facts, summary.startedAt);
    for await (const record of records()) if (record.suite === name) yield renderCase(record);
    yield '</testsuite>\n';
  }
  yield* gateSuite(gate, summary.startedAt);
  yield '</testsuites>\n';
}

/** Whether a case is right can't be told of some, for example of a selection that was skipped: they pass. */
function renderCase({
  id,
  suite,
  repeat,
  query,
  cause,
  error,
  scores,
  expected,
  selection,
  milliseconds,
}: CaseRecord): string {
  const name = repeat === 0 ? id : `${id} (repeat ${repeat})`;
  const got = selection?.tools.map((tool) => tool.name).join(' ') ?? '';
  const facts = `${query}\nexpected: ${expected.tools.join(' ') || 'no tool'}\ngot: ${got || 'no tool'}`;
  const isWrong = !error && scores.right === 0;
  return render('testcase', {
    '@classname': suite ?? '',
    '@name': name,
    '@time': (milliseconds.total / 1_000).toFixed(3),
    ...(error ? { error: { '@type': error.code, '@message': error.message, '#text': facts } } : {}),
    ...(isWrong ? { failure: { '@type': cause ?? 'wrong', '@message': cause ?? 'wrong', '#text': facts } } : {}),
  });
}
