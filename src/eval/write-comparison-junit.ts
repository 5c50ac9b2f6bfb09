/** A comparison as JUnit XML: a suite of the cases that both runs have, in which what was lost fails, and one for the bars. */
import { writeFileSync } from 'node:fs';
import type { Comparison } from './compare.js';
import type { BarResult } from './gate.js';
import { attribute, gateSuite, JUNIT_HEAD, openSuite, render } from './junit.js';

export interface ComparisonJUnitParts {
  comparison: Comparison;
  gate: readonly BarResult[];
  out: string;
}

/** Cases that are right, or wrong, in both runs are counted, not listed. */
export function writeComparisonJUnit({ comparison, gate, out }: ComparisonJUnitParts): void {
  const { first, second, won, lost, cases } = comparison;
  const title = `${first.name} and ${second.name}`;
  const listed = [
    ...lost.map((id) => testCase(id, { failure: { '@type': 'lost', '@message': `right in ${first.name} only` } })),
    ...won.map((id) => testCase(id, { 'system-out': `right in ${second.name} only` })),
  ];
  const facts = { tests: listed.length, failures: lost.length, errors: 0 };
  const text = [
    `${JUNIT_HEAD}<testsuites name="${attribute(title)}">\n`,
    openSuite(`${title}: ${cases} cases in both`, facts, second.startedAt),
    ...listed,
    '</testsuite>\n',
    ...gateSuite(gate, second.startedAt),
    '</testsuites>\n',
  ];
  writeFileSync(out, text.join(''));
}

function testCase(id: string, content: Record<string, unknown>): string {
  return render('testcase', { '@classname': 'comparison', '@name': id, ...content });
}
