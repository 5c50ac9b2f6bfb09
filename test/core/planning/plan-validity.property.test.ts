/** Whatever a model answers: what leaves `planner.plan` is a valid plan, or an honest word, or `plan_invalid` with the issues. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createCatalog } from '../../../src/core/catalog/catalog.js';
import { subschemaAt } from '../../../src/core/catalog/schema/paths.js';
import { createScope } from '../../../src/core/catalog/scope.js';
import type { Tool } from '../../../src/core/catalog/tool.js';
import { createValidator } from '../../../src/core/catalog/validate.js';
import { WinnowError } from '../../../src/core/errors.js';
import { createPlanner } from '../../../src/core/planner.js';
import { type PlanResult, resultSchema, type Step } from '../../../src/core/result.js';
import { FIXTURES, type FixtureCase, loadFixture, loadFixtureCases, withReferences } from '../../support/fixtures.js';
import { createScriptedModel } from '../../support/scripted-model.js';

const RUNS = 15;
const JUNK = [
  null,
  '',
  0,
  -1,
  true,
  [],
  {},
  'x',
  '${s1}',
  '${s9.a}',
  '${s2.stcd',
  '${step1.a}',
  { a: '${s1.a}' },
  ['${s1.id}'],
  'constructor',
  '__proto__',
  's1',
  's2',
];
const COUNTS = { plan: 0, refused: 0 };

type Change = (value: unknown) => unknown;

/** The two answers of a model: what is changed in each, and what stands around it. */
type Answers = [Change[], (text: string) => string][];
/** Both outcomes must be reached at all, also with bad luck: the expected answer, and one without its end, twice. */
const EXPECTED: Answers = [
  [[], (text) => text],
  [[], (text) => text],
];
const CUT: Answers = [
  [[], (text) => text.slice(0, -3)],
  [[], (text) => text.slice(0, -3)],
];

/** A change somewhere inside a value: which place it hits is drawn, so that shrinking finds the smallest. */
const change: fc.Arbitrary<Change> = fc
  .record({
    place: fc.nat(60),
    junk: fc.constantFrom(...JUNK),
    how: fc.constantFrom('put', 'drop', 'double', 'swap', 'rename'),
  })
  .map(
    ({ place, junk, how }) =>
      (value) =>
        changeAt(value, { count: place }, { how, junk }),
  );

interface Hit {
  how: string;
  junk: unknown;
}

function changeAt(value: unknown, left: { count: number }, hit: Hit): unknown {
  if (left.count-- === 0 && hit.how === 'put') return hit.junk;
  if (Array.isArray(value)) {
    const changed = value.map((item) => changeAt(item, left, hit));
    if (left.count-- !== 0) return changed;
    if (hit.how === 'drop') return changed.slice(1);
    if (hit.how === 'double') return [...changed, ...changed];
    return hit.how === 'swap' ? changed.reverse() : changed;
  }
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).flatMap(([key, inner]) => {
    const kept = [[key, changeAt(inner, left, hit)]];
    if (left.count-- !== 0) return kept;
    if (hit.how === 'drop') return [];
    return hit.how === 'rename' ? [[String(hit.junk), inner]] : kept;
  });
  return Object.fromEntries(entries);
}

const wrap = fc.constantFrom<(text: string) => string>(
  (text) => text,
  (text) => `\`\`\`json\n${text}\n\`\`\``,
  (text) => text.slice(0, -3),
  (text) => `Of course: ${text}`,
);

describe.each(FIXTURES)('a plan for a request of %s', (name) => {
  it('is valid, or is none', async () => {
    const { catalog } = await loadFixture(name);
    const cases = loadFixtureCases(name).filter(({ expectedSteps }) => expectedSteps.length > 0);
    const viewOf = createScope(catalog);
    const answers = fc.array(fc.tuple(fc.array(change, { maxLength: 2 }), wrap), { minLength: 2, maxLength: 2 });
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...cases), answers, async (one, changes) => {
        const steps = one.expectedSteps.map((step, place) => ({
          id: `s${place + 1}`,
          tool: step.tool,
          arguments: withReferences(step.arguments),
        }));
        const texts = changes.map(([list, put]) =>
          put(JSON.stringify(list.reduce((value, apply) => apply(value), { kind: 'plan', steps } as unknown))),
        );
        const { byName } = viewOf({ user: one.user });
        const tools = [...new Set(one.expectedTools)].flatMap((tool) => byName.get(tool) ?? []);
        const result = await planWith(
          tools,
          { message: one.query, ...(one.user === undefined ? {} : { user: one.user }) },
          texts,
        );
        if (result instanceof WinnowError) {
          expect(result).toMatchObject({ code: 'plan_invalid', issues: expect.arrayContaining([expect.any(String)]) });
          COUNTS.refused += 1;
          return;
        }
        expect(resultSchema.safeParse(result).error).toBeUndefined();
        if (result.kind !== 'plan') return;
        expect(problemsOf(result.steps, new Map(tools.map((tool) => [tool.name, tool])))).toEqual([]);
        expect(result.levels.flat().sort()).toEqual(result.steps.map(({ id }) => id).sort());
        COUNTS.plan += 1;
      }),
      { numRuns: RUNS, examples: [EXPECTED, CUT].map((one) => [cases[0] as FixtureCase, one]) },
    );
  }, 120_000);
});

it('was both, or the property says nothing', () => {
  expect(COUNTS.plan).toBeGreaterThanOrEqual(FIXTURES.length);
  expect(COUNTS.refused).toBeGreaterThanOrEqual(FIXTURES.length);
});

async function planWith(
  tools: readonly Tool[],
  request: { message: string; user?: string },
  texts: readonly string[],
): Promise<PlanResult | WinnowError> {
  const model = createScriptedModel({ answers: (_, index) => texts[Math.min(index, 1)] ?? '' });
  const planner = createPlanner({ catalog: createCatalog(tools), model });
  try {
    return await planner.plan(request);
  } catch (error) {
    if (error instanceof WinnowError) return error;
    throw error;
  }
}

const REFERENCE = /\$\{(s\d+)((?:\.[^.[\]{}\s]+|\[\d+\])*)\}/gu;

/** The rules of a valid plan once more, in other words than those of the check. */
function problemsOf(steps: readonly Step[], tools: ReadonlyMap<string, Tool>): string[] {
  const problems: string[] = [];
  for (const [place, step] of steps.entries()) {
    const tool = tools.get(step.tool);
    const earlier = new Map(steps.slice(0, place).map((one) => [one.id, tools.get(one.tool)]));
    if (step.id !== `s${place + 1}`) problems.push(`id ${step.id} at ${place}`);
    if (!tool) {
      problems.push(`tool ${step.tool}`);
      continue;
    }
    const text = JSON.stringify(step.arguments);
    if (/\$\{(?:s|step)\d/u.test(text.replace(REFERENCE, ''))) problems.push(`a broken reference in ${text}`);
    for (const [, id = '', path = ''] of text.matchAll(REFERENCE)) {
      const producer = earlier.get(id);
      const parts = path
        .split(/[.[\]]+/u)
        .filter(Boolean)
        .map((part) => (/^\d+$/u.test(part) ? Number(part) : part));
      if (!producer) problems.push(`${step.id} refers to ${id}`);
      else if (producer.outputSchema && subschemaAt(producer.outputSchema, parts) === undefined)
        problems.push(`${id} has no ${path}`);
      if (!step.dependsOn.includes(id)) problems.push(`${step.id} does not wait for ${id}`);
    }
    const checked = text.includes('${') ? { ok: true as const } : createValidator(tool.inputSchema)(step.arguments);
    if (!checked.ok) problems.push(...checked.issues);
    problems.push(...step.dependsOn.filter((id) => !earlier.has(id)).map((id) => `${step.id} waits for ${id}`));
  }
  return problems;
}
