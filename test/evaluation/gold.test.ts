/** Every case that comes with the package, and of the public benchmarks: it can be read, and its own answer is right. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import type { Step } from '../../src/core/result.js';
import { type EvaluationCase, parseCase } from '../../src/evaluation/case.js';
import { scorePlan, touchedValues } from '../../src/evaluation/plan-scores.js';
import { scoreSelection } from '../../src/evaluation/selection-scores.js';
import { aSelection } from './setup.js';

const benchmarks = process.env.WINNOW_BENCHMARKS ?? '../shared/benchmarks';
const SETS = ['metatool', 'restbench', 'nestful', 'bfcl', 'bfcl_irrelevance', 'stabletoolbench', 'acebench_zh'];
const FILES = [
  ...readdirSync('fixtures/cases').map((name) => `fixtures/cases/${name}`),
  ...SETS.map((name) => join(benchmarks, `${name}.cases.jsonl`)),
];

const known = new Map<string, EvaluationCase[]>();

/** Read once, by the first test of the file that asks. */
function casesIn(file: string): EvaluationCase[] {
  const cases = known.get(file) ?? readCases(file);
  known.set(file, cases);
  return cases;
}

function readCases(file: string): EvaluationCase[] {
  const lines = readFileSync(file, 'utf8').trim().split('\n');
  return lines.map((text, place) => {
    const { case: one, unknownFields } = parseCase(text, { suite: 'set', file, line: place + 1 });
    if (unknownFields.length > 0)
      throw new Error(`${file}:${place + 1} has unknown fields: ${unknownFields.join(', ')}`);
    return one;
  });
}

/** The expected steps as a planner would write them. */
function goldPlan({ expected: { steps = [], edges = [] } }: EvaluationCase): Step[] {
  return steps.map((step, place) => ({
    id: `s${place + 1}`,
    tool: step.tool,
    purpose: '',
    arguments: Object.fromEntries(Object.entries(step.arguments).map(([name, value]) => [name, written(value, place)])),
    dependsOn: edges.filter(([, to]) => to === place).map(([from]) => `s${from + 1}`),
  }));
}

function written(value: unknown, step: number): unknown {
  if (typeof value === 'string') {
    return value.replace(/\$(\d+)((?:\.\w+|\[\d+\])*)/gu, (whole, from: string, path: string) =>
      Number(from) < step ? `\${s${Number(from) + 1}${path.replace(/\.(\d+)/gu, '[$1]')}}` : whole,
    );
  }
  if (Array.isArray(value)) return value.map((item) => written(item, step));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, written(inner, step)]));
}

/** No plan can write this: a field with a space in its name can't be referred to. */
const UNWRITABLE = /\$\d+\.\w+ \w/u;

describe.each(FILES)('%s', (file) => {
  const isThere = existsSync(file);
  const test = isThere ? it : it.skip;
  const why = isThere ? '' : ' (skipped: the file is not there)';

  test(`can be read, and its own tools and steps are right${why}`, () => {
    const wrong = casesIn(file).filter((one) => {
      const { recall, exact } = scoreSelection(one.expected, aSelection(one.expected.tools), () => 0);
      const isSelected = one.expected.tools.length === 0 ? recall === null : recall === 1 && exact === 1;
      if (!isSelected || !one.expected.steps?.length) return !isSelected;
      const { scores, fault } = scorePlan(one.expected, goldPlan(one), { ignoreCase: false });
      const isWritable = !UNWRITABLE.test(JSON.stringify(one.expected.steps));
      if (touchedValues(goldPlan(one), one.excluded ?? []).length > 0) return true;
      return isWritable && (fault !== undefined || scores.nodeF1 !== 1 || (scores.argumentValueF1 ?? 1) !== 1);
    });
    expect(wrong.map(({ id }) => id)).toEqual([]);
  });

  test(`is not fulfilled by a plan with a wrong value${why}`, () => {
    const right = casesIn(file).filter((one) => {
      const plan = goldPlan(one);
      const at = plan.findIndex((step) => Object.keys(step.arguments).length > 0);
      const broken = plan.map((step, place) =>
        place === at
          ? {
              ...step,
              arguments: Object.fromEntries(Object.keys(step.arguments).map((name) => [name, 'no such value'])),
            }
          : step,
      );
      return at >= 0 && scorePlan(one.expected, broken, { ignoreCase: false }).fault === undefined;
    });
    expect(right.map(({ id }) => id)).toEqual([]);
  });
});
