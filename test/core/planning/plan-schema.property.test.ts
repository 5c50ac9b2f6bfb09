/** What the schema of a plan lets a model write, the check lets through: a model that decodes under it needs no repair. */
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { fits, subschemaAt } from '../../../src/core/catalog/schema/paths.js';
import { createScope } from '../../../src/core/catalog/scope.js';
import type { Tool } from '../../../src/core/catalog/tool.js';
import { checkPlan, type DraftStep } from '../../../src/core/planning/check-plan.js';
import { resultFields } from '../../../src/core/planning/decide/sources.js';
import { fittedSchemas } from '../../../src/core/planning/fitted.js';
import { planAnswerSchema } from '../../../src/core/planning/plan-schema.js';
import { type Leaf, renderPath, textsIn } from '../../../src/core/planning/references.js';
import { compileSchema } from '../../support/compile-schema.js';
import { FIXTURES, loadFixture } from '../../support/fixtures.js';
import { REFERENCE_PLACE, valuesOf } from '../../support/schema-values.js';

const GROUP = 4;
const RUNS = 20;

describe.each(FIXTURES)('plans over the tools of %s', (name) => {
  it('that the schema takes, with right references, pass the check', async () => {
    const { catalog } = await loadFixture(name);
    const { tools } = createScope(catalog)({ user: 'alice' });
    const seen = { plans: 0, references: 0 };
    const group = fc.uniqueArray(fc.nat(tools.length - 1), { minLength: GROUP, maxLength: GROUP });
    const input = group.chain((places) => {
      const chosen = places.flatMap((place) => tools[place] ?? []);
      const schema = planAnswerSchema(chosen, { canNeedTools: false });
      const steps = fc.array(
        fc.constantFrom(...chosen).chain((tool) => argumentsOf(tool, schema)),
        { minLength: 1, maxLength: 4 },
      );
      return fc.record({ chosen: fc.constant(chosen), schema: fc.constant(schema), steps, seed: fc.nat(1000) });
    });
    fc.assert(
      fc.property(input, ({ chosen, schema, steps, seed }) => {
        const plan = withRightReferences(steps, new Map(chosen.map((tool) => [tool.name, tool])), seed);
        const validate = compileSchema(schema);
        expect({ taken: validate({ kind: 'plan', steps: plan }), errors: validate.errors }).toMatchObject({
          taken: true,
        });
        expect(checkPlan(plan, new Map(chosen.map((tool) => [tool.name, tool])))).toMatchObject({ ok: true });
        seen.plans += 1;
        seen.references += JSON.stringify(plan).split('${').length - 1;
      }),
      { numRuns: RUNS, seed: 20261122 },
    );
    // Else the property would hold of nothing.
    expect(seen.plans).toBe(RUNS);
    expect(seen.references).toBeGreaterThan(3);
  });
});

type Draft = Pick<DraftStep, 'tool' | 'arguments'>;

/** A step as the schema of the plan describes it. */
function argumentsOf(tool: Tool, schema: ReturnType<typeof planAnswerSchema>): fc.Arbitrary<Draft> {
  const steps = subschemaAt(schema, ['steps', 0]);
  const forms = Object(steps).anyOf ?? [steps];
  const own = forms.find(
    (form: { properties: { tool: { const: string } } }) => form.properties.tool.const === tool.name,
  );
  return valuesOf(own.properties.arguments, schema).map((values) => ({ tool: tool.name, arguments: Object(values) }));
}

/** Each place of a reference gets one that is right; where no earlier step has one, the step goes. */
function withRightReferences(drafts: readonly Draft[], tools: ReadonlyMap<string, Tool>, seed: number): DraftStep[] {
  const steps: DraftStep[] = [];
  for (const draft of drafts) {
    const tool = tools.get(draft.tool);
    if (!tool) continue;
    const values = structuredClone(draft.arguments);
    const places = textsIn(values).filter((leaf) => leaf.text === REFERENCE_PLACE);
    const isFilled = places.every((leaf, count) => {
      const fitting = fittingReferences(
        leaf,
        tool,
        steps.map((step) => tools.get(step.tool)),
      );
      const reference = fitting[(seed + count) % Math.max(1, fitting.length)];
      if (reference !== undefined) put(values, leaf.path, reference);
      return reference !== undefined;
    });
    if (isFilled) steps.push({ id: `s${steps.length + 1}`, tool: draft.tool, arguments: values });
    else if (steps.length === 0) fc.pre(false);
  }
  return steps;
}

function fittingReferences(leaf: Leaf, tool: Tool, earlier: readonly (Tool | undefined)[]): string[] {
  const wanted = subschemaAt(fittedSchemas(tool).input, leaf.path);
  return earlier.flatMap((producer, place) => {
    const fields = producer ? resultFields(fittedSchemas(producer).output) : [];
    const fitting = fields.filter(({ schema }) => wanted === undefined || fits(schema, wanted));
    return fitting.map(({ path }) => referenceTo(`s${place + 1}`, renderPath(path)));
  });
}

function referenceTo(step: string, path: string): string {
  return `\${${step}${path.startsWith('[') ? '' : '.'}${path}}`;
}

function put(target: Record<string, unknown>, path: readonly (string | number)[], value: unknown): void {
  const holder = path.slice(0, -1).reduce<unknown>((node, part) => Object(node)[part], target);
  Reflect.set(Object(holder), path.at(-1) ?? '', value);
}
