/** The parts of JUnit XML that a run and a comparison have in common. */
import { XMLBuilder } from 'fast-xml-parser';
import type { BarResult } from './gate.js';

export const JUNIT_HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n';

const builder = new XMLBuilder({ ignoreAttributes: false, attributeNamePrefix: '@', suppressEmptyNode: true });

export function openSuite(name: string, facts: Record<string, number>, timestamp: string): string {
  const numbers = Object.entries(facts).map(([key, value]) => ` ${key}="${value}"`);
  return `<testsuite name="${attribute(name)}"${numbers.join('')} timestamp="${attribute(timestamp)}">\n`;
}

/** A suite of the bars, where there are any. */
export function* gateSuite(gate: readonly BarResult[], timestamp: string): Generator<string> {
  if (gate.length === 0) return;
  const failures = gate.filter(({ passed }) => !passed).length;
  yield openSuite('gate', { tests: gate.length, failures, errors: 0 }, timestamp);
  for (const bar of gate) yield renderBar(bar);
  yield '</testsuite>\n';
}

function renderBar({ bar, passed, found }: BarResult): string {
  const failure = passed ? {} : { failure: { '@type': 'gate', '@message': found } };
  return render('testcase', { '@classname': 'gate', '@name': bar, ...failure });
}

/** An element; `@name` are its attributes, `#text` what it holds. */
export function render(name: string, content: Record<string, unknown>): string {
  return `${builder.build({ [name]: cleaned(content) })}\n`;
}

/** Characters that XML 1.0 has no way to write. */
const FORBIDDEN = /(?![\t\n\r])\p{Cc}|\p{Cs}|[\uFFFE\uFFFF]/gu;

function cleaned(value: unknown): unknown {
  if (typeof value === 'string') return value.replace(FORBIDDEN, '\uFFFD');
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, cleaned(inner)]));
}

export function attribute(text: string): string {
  const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
  return text.replace(FORBIDDEN, '\uFFFD').replace(/[&<>"]/gu, (character) => escapes[character] ?? character);
}
