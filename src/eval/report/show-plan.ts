/**
 * The plans of a case as the page draws them: which step goes with which is in the record's comparison, here are the
 * arrows, and the expected values in the words of a plan.
 */
import type { Step } from '../../core/result.js';
import { scorePlan } from '../plan-scores.js';
import type { CaseRecord, PlanComparison } from '../record.js';
import { fieldsTaken, toPlanValue } from '../references.js';
import type { ValueOptions } from '../values.js';
import { type PlanVariant, planVariants } from '../variants.js';
import type { ShownPlan } from './whole-case.js';

/** A record of an earlier version tells no comparison: it is made here, without the defaults that only the catalogue knows. */
export function compareRecord(record: CaseRecord, options: ValueOptions): CaseRecord {
  const { expected, result, comparison } = record;
  if (comparison || !(result || expected.steps?.length)) return record;
  return { ...record, comparison: scorePlan(expected, result?.steps ?? [], options).comparison };
}

/** Undefined for a record without a comparison. */
export function showPlan({ expected, result, comparison }: CaseRecord): ShownPlan | undefined {
  if (!comparison) return undefined;
  const variants = planVariants(expected);
  const variant = variants.find(({ alternative }) => alternative === comparison.alternative) ?? variants[0];
  return drawSteps(variant, result?.steps ?? [], comparison);
}

/** An arrow is right when both plans have it between the same two steps, as edge F1 counts it. */
function drawSteps(variant: PlanVariant, got: readonly Step[], { steps: pairs }: PlanComparison): ShownPlan {
  const gotOf = new Map(pairs.map((pair) => [pair.expected, got[pair.got ?? -1]?.id]));
  const goldOf = new Map(pairs.map((pair) => [got[pair.got ?? -1]?.id, pair.expected]));
  const key = (from: string | number | undefined, to: string | number | undefined) => `${from} ${to}`;
  const waits = new Set(got.flatMap(({ id, dependsOn }) => dependsOn.map((from) => key(from, id))));
  const edges = new Set(variant.edges?.map(([from, to]) => key(from, to)));
  const further = variant.edges ? 'extra' : 'unjudged';
  return {
    expected: variant.steps.map((step, place) => {
      const values = valuesOf(step, variant);
      const fields = fieldsTaken(values);
      const before = (variant.edges ?? []).filter(([, to]) => to === place).map(([from]) => from);
      return {
        id: idOf(place),
        tool: step.tool,
        arguments: values,
        uses: before.map((from) => ({
          from: idOf(from),
          field: fields(idOf(from)),
          state: waits.has(key(gotOf.get(from), gotOf.get(place))) ? 'hit' : 'missing',
        })),
      };
    }),
    got: got.map((step) => {
      const fields = fieldsTaken(step.arguments);
      return {
        id: step.id,
        uses: step.dependsOn.map((from) => ({
          from,
          field: fields(from),
          state: edges.has(key(goldOf.get(from), goldOf.get(step.id))) ? 'hit' : further,
        })),
      };
    }),
  };
}

const idOf = (place: number) => `s${place + 1}`;

function valuesOf({ arguments: values, origin = 0 }: PlanVariant['steps'][number], { steps }: PlanVariant) {
  const nameOf = (place: number) => {
    const at = steps.findIndex((step) => step.origin === place);
    return at < 0 ? undefined : idOf(at);
  };
  return Object.fromEntries(Object.entries(values).map(([name, one]) => [name, toPlanValue(one, origin, nameOf)]));
}
