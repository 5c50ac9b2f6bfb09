/**
 * The plans of a case as the page draws them: the record's comparison pairs the steps; this adds arrows, and writes expected
 * values in a plan's form.
 */
import type { Step } from '../../core/result.js';
import type { ShownState, ShownStep } from '../../page/shown-step.js';
import type { ArgumentVerdict, CaseRecord } from '../record.js';
import { fieldsTaken, toPlanValue } from '../references.js';
import { type PlanVariant, planVariants } from '../variants.js';

export interface ShownPair {
  readonly expected: { readonly id: string; readonly tool: string; readonly arguments: Step['arguments'] } | undefined;
  readonly got: Step | undefined;
  readonly arguments: Readonly<Record<string, ArgumentVerdict>>;
}

export interface ShownPlan {
  /** Named `s1`, `s2` and so on, with references in a plan's form. */
  readonly expected: readonly ShownStep[];
  readonly got: readonly ShownStep[];
  /** The expected steps in their order with their matches, then the extra steps. */
  readonly pairs: readonly ShownPair[];
}

/** Also draws an unexpected plan, whose steps are all extra. */
export function showPlan({ expected, result, comparison }: CaseRecord): ShownPlan {
  const variants = planVariants(expected);
  const variant = variants.find(({ alternative }) => alternative === comparison?.alternative) ?? variants[0];
  const got = result?.steps ?? [];
  const missing = variant.steps.map((_, place) => ({ expected: place, arguments: {} }));
  const further = got.map((_, place) => ({ got: place, arguments: {} }));
  const pairs: NonNullable<typeof comparison>['steps'] = comparison?.steps ?? [
    ...(expected.steps ? missing : []),
    ...further,
  ];
  const wanted = variant.steps.map((step, place) => ({
    ...{ id: idOf(place), tool: step.tool },
    arguments: valuesOf(step, variant),
  }));
  return {
    ...drawSteps({ variant, wanted, got, pairs }),
    pairs: pairs.map((pair) => ({
      expected: wanted[pair.expected ?? -1],
      got: got[pair.got ?? -1],
      arguments: pair.arguments,
    })),
  };
}

interface DrawParts {
  variant: PlanVariant;
  wanted: readonly NonNullable<ShownPair['expected']>[];
  got: readonly Step[];
  pairs: readonly { expected?: number | undefined; got?: number | undefined }[];
}

/** An arrow is right when both plans have it between the same two steps, as in edge F1. */
function drawSteps({ variant, wanted, got, pairs }: DrawParts): Pick<ShownPlan, 'expected' | 'got'> {
  const shown = pairs.flatMap(({ expected }) => (expected === undefined ? [] : [expected]));
  const gotOf = new Map(pairs.map((pair) => [pair.expected, got[pair.got ?? -1]?.id]));
  const goldOf = new Map(pairs.map((pair) => [got[pair.got ?? -1]?.id, pair.expected]));
  const key = (from: string | number | undefined, to: string | number | undefined) => `${from} ${to}`;
  const waits = new Set(got.flatMap(({ id, dependsOn }) => dependsOn.map((from) => key(from, id))));
  const edges = new Set(variant.edges?.map(([from, to]) => key(from, to)));
  const further: ShownState = variant.edges ? 'extra' : 'unjudged';
  return {
    expected: shown.flatMap((place): ShownStep[] => {
      const step = wanted[place];
      if (!step) return [];
      const fields = fieldsTaken(step.arguments);
      const before = (variant.edges ?? []).filter(([, to]) => to === place).map(([from]) => from);
      const uses = before.map((from) => ({
        from: idOf(from),
        field: fields(idOf(from)),
        state: waits.has(key(gotOf.get(from), gotOf.get(place))) ? ('hit' as const) : ('missing' as const),
      }));
      return [{ id: step.id, tool: step.tool, state: gotOf.get(place) === undefined ? 'missing' : 'hit', uses }];
    }),
    got: got.map(({ id, tool, arguments: values, dependsOn }): ShownStep => {
      const fields = fieldsTaken(values);
      const uses = dependsOn.map((from) => ({
        from,
        field: fields(from),
        state: edges.has(key(goldOf.get(from), goldOf.get(id))) ? ('hit' as const) : further,
      }));
      return { id, tool, state: goldOf.get(id) === undefined ? 'extra' : 'hit', uses };
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
