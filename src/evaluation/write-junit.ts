/** A run as JUnit XML, for build servers: a suite for each set of cases, and one for the bars of the gate. */
import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { XMLBuilder } from 'fast-xml-parser';
import type { BarResult } from './gate.js';
import type { CaseRecord } from './record.js';
import type { RunSummary } from './run-summary.js';

export interface JUnitParts {
  summary: RunSummary;
  /** Read once for each suite. */
  records: () => AsyncIterable<CaseRecord>;
  gate: readonly BarResult[];
  out: string;
}

const builder = new XMLBuilder({ ignoreAttributes: false, attributeNamePrefix: '@', suppressEmptyNode: true });

/** A case is written as it is read: the file may have any number. */
export async function writeJUnit(parts: JUnitParts): Promise<void> {
  await pipeline(Readable.from(piecesOf(parts)), createWriteStream(parts.out));
}

async function* piecesOf({ summary, records, gate }: JUnitParts): AsyncGenerator<string> {
  yield `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="${attribute(summary.name)}">\n`;
  for (const { name, counts } of summary.suites) {
    const facts = { tests: counts.done, failures: counts.wrong, errors: counts.errors };
    yield openSuite(name, facts, summary.startedAt);
    for await (const record of records()) if (record.suite === name) yield renderCase(record);
    yield '</testsuite>\n';
  }
  if (gate.length > 0) {
    const failures = gate.filter(({ passed }) => !passed).length;
    yield openSuite('gate', { tests: gate.length, failures, errors: 0 }, summary.startedAt);
    for (const bar of gate) yield renderBar(bar);
    yield '</testsuite>\n';
  }
  yield '</testsuites>\n';
}

function openSuite(name: string, facts: Record<string, number>, timestamp: string): string {
  const numbers = Object.entries(facts).map(([key, value]) => ` ${key}="${value}"`);
  return `<testsuite name="${attribute(name)}"${numbers.join('')} timestamp="${attribute(timestamp)}">\n`;
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

function renderBar({ bar, passed, found }: BarResult): string {
  const failure = passed ? {} : { failure: { '@type': 'gate', '@message': found } };
  return render('testcase', { '@classname': 'gate', '@name': bar, ...failure });
}

function render(name: string, content: Record<string, unknown>): string {
  return `${builder.build({ [name]: cleaned(content) })}\n`;
}

/** Characters that XML 1.0 has no way to write. */
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
