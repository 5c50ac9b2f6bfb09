/** Compares a plan with an expected variant, argument by argument, for scores and reports. */
import { isDeepStrictEqual } from 'node:util';
import type { Step } from '../core/result.js';
import type { ArgumentVerdict } from './record.js';
import {
  readGoldReference,
  readPlanReference,
  referencedPlaces,
  replaceGoldReferences,
  replacePlanReferences,
} from './references.js';
import { agree, isAccepted, isSameScalar, isSameValue, type ValueOptions } from './values.js';
import type { PlanVariant, VariantStep } from './variants.js';

export interface CompareOptions extends ValueOptions {
  /**
   * The schema's default for an argument; undefined where there is none. On either side, leaving the argument out equals writing
   * its default.
   */
  defaultOf?: ((tool: string, argument: string) => unknown) | undefined;
}

export interface ComparedPlan extends CompareOptions {
  variant: PlanVariant;
  steps: readonly Step[];
  /** Index of an expected step -> index in the plan. */
  gotOf: ReadonlyMap<number, number>;
}

/**
 * Matches steps to expected ones of the same tool. Several calls of one tool are paired by best agreement of their literal
 * arguments, so that their order is no mistake (as T-Eval pairs actions, Chen et al., ACL 2024). References are judged after
 * that.
 */
export function matchSteps(variant: PlanVariant, steps: readonly Step[], options: ValueOptions): Map<number, number> {
  const agreementOf = (expected: VariantStep, step: Step) =>
    Object.entries(expected.arguments).filter(([name, value]) => {
      const got = step.arguments[name];
      return isSameValue(value, got, options) || isAccepted(expected.argumentsAnyOf[name] ?? [], got, options);
    }).length;
  const pairs = variant.steps.flatMap((expected, gold) =>
    steps.flatMap((step, got) =>
      step.tool === expected.tool ? [{ gold, got, agreement: agreementOf(expected, step) }] : [],
    ),
  );
  pairs.sort((one, other) => other.agreement - one.agreement || one.gold - other.gold || one.got - other.got);
  const gotOf = new Map<number, number>();
  const taken = new Set<number>();
  for (const { gold, got } of pairs) {
    if (gotOf.has(gold) || taken.has(got)) continue;
    gotOf.set(gold, got);
    taken.add(got);
  }
  return gotOf;
}

export interface ComparedArgument {
  readonly name: string;
  readonly verdict: ArgumentVerdict;
  /** The expected step has it. */
  readonly isWanted: boolean;
  /** The expected value comes from an earlier step. */
  readonly isReference: boolean;
}

export interface ComparedStep {
  readonly expected?: number;
  readonly got?: number;
  readonly arguments: readonly ComparedArgument[];
}

/** The expected steps in their order, then the plan's extra steps. */
export function compareSteps(context: ComparedPlan): ComparedStep[] {
  const { variant, steps, gotOf } = context;
  const matched = new Set(gotOf.values());
  const wanted = variant.steps.map((step, expected): ComparedStep => {
    const got = gotOf.get(expected);
    const compared = compareArguments(step, steps[got ?? -1], context);
    return { expected, ...(got === undefined ? {} : { got }), arguments: compared };
  });
  const further = steps.flatMap((step, got): ComparedStep[] => {
    if (matched.has(got)) return [];
    return [{ got, arguments: Object.entries(step.arguments).map((one) => judgeFurther(one, step.tool, context)) }];
  });
  return [...wanted, ...further];
}

function compareArguments(expected: VariantStep, got: Step | undefined, context: ComparedPlan): ComparedArgument[] {
  const written = Object.entries(got?.arguments ?? {});
  if (expected.argumentsUnknown) return written.map(([name]) => unwanted(name, 'unjudged'));
  const further = written.filter(([name]) => !Object.hasOwn(expected.arguments, name));
  return [
    ...Object.keys(expected.arguments).map((name) => judgeWanted(name, expected, { got, context })),
    ...further.map(([name, value]) =>
      isAccepted(expected.argumentsAnyOf[name] ?? [], value, context)
        ? unwanted(name, 'accepted')
        : judgeFurther([name, value], expected.tool, context),
    ),
  ];
}

function judgeWanted(
  name: string,
  expected: VariantStep,
  { got, context }: { got: Step | undefined; context: ComparedPlan },
): ComparedArgument {
  const isReference = referencedPlaces(expected.arguments[name], expected.origin ?? 0).length > 0;
  const judged = (verdict: ArgumentVerdict) => ({ name, verdict, isWanted: true, isReference });
  if (!got) return judged('missing');
  if (Object.hasOwn(got.arguments, name)) return judged(verdictOf(name, got.arguments[name], { expected, context }));
  if (expected.argumentsAnyOf[name]?.includes('')) return judged('optional');
  const given = context.defaultOf?.(expected.tool, name);
  const isDefault = given !== undefined && verdictOf(name, given, { expected, context }) !== 'different';
  return judged(isDefault ? 'default' : 'missing');
}

function judgeFurther(
  [name, value]: readonly [string, unknown],
  tool: string,
  context: ComparedPlan,
): ComparedArgument {
  const given = context.defaultOf?.(tool, name);
  return unwanted(name, given !== undefined && isSameValue(given, value, context) ? 'default' : 'extra');
}

function unwanted(name: string, verdict: ArgumentVerdict): ComparedArgument {
  return { name, verdict, isWanted: false, isReference: false };
}

function verdictOf(
  name: string,
  got: unknown,
  { expected, context }: { expected: VariantStep; context: ComparedPlan },
): ArgumentVerdict {
  const [value, origin] = [expected.arguments[name], expected.origin ?? 0];
  if (agree(value, got, (one, other) => isRight(one, other, { ...context, origin }))) {
    return isDeepStrictEqual(value, got) || referencedPlaces(value, origin).length > 0 ? 'same' : 'form';
  }
  return isAccepted(expected.argumentsAnyOf[name] ?? [], got, context) ? 'accepted' : 'different';
}

/**
 * A reference is right when it points to the matched step and, where the case names a field, to the same last named one, since
 * descriptions wrap results differently. Any value is right where an alternative lacks the referenced step.
 */
function isRight(value: unknown, got: unknown, context: ComparedPlan & { origin: number }): boolean {
  const { origin, variant, steps, gotOf } = context;
  if (typeof value !== 'string') return isSameScalar(value, got, context);
  const goldAt = (place: number) => variant.steps.findIndex((step) => step.origin === place);
  const placeOf = (stepId: string) => steps.findIndex((step) => step.id === stepId);
  if (referencedPlaces(value, origin).some((place) => goldAt(place) < 0)) return true;
  const whole = readGoldReference(value, origin);
  if (whole) {
    const written = readPlanReference(got);
    const isField = whole.field === undefined || whole.field === written?.field;
    return written !== undefined && isField && placeOf(written.stepId) === gotOf.get(goldAt(whole.place));
  }
  const fields: (string | undefined)[] = [];
  const gotFields: (string | undefined)[] = [];
  const wanted = replaceGoldReferences(value, origin, ({ place, field }) => {
    fields.push(field);
    return `⟦${gotOf.get(goldAt(place))}⟧`;
  });
  if (wanted === undefined) return isSameScalar(value, got, context);
  if (typeof got !== 'string') return false;
  const written = replacePlanReferences(got, ({ stepId, field }) => {
    gotFields.push(field);
    return `⟦${placeOf(stepId)}⟧`;
  });
  if (fields.some((field, place) => field !== undefined && field !== gotFields[place])) return false;
  const withoutSpace = (text: string) => text.replace(/\s+/gu, '');
  return isSameScalar(withoutSpace(wanted), withoutSpace(written), context);
}
