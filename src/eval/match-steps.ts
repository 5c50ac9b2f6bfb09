/**
 * Which step of a plan stands for which expected one: same tool, and among several of one tool the pairs whose
 * arguments agree best, so that two like calls in another order are no mistake (as T-Eval pairs actions, Chen et al.,
 * ACL 2024). Each step is matched at most once.
 */
import { isDeepStrictEqual } from 'node:util';
import { isObject } from '../core/catalog/schema/json.js';
import type { Step } from '../core/result.js';
import type { ArgumentVerdict } from './record.js';
import { readGoldReference, readPlanReference, replaceGoldReferences, replacePlanReferences } from './references.js';
import { isAccepted, isSameValue, type ValueOptions } from './values.js';
import type { PlanVariant, VariantStep } from './variants.js';

export interface Matching {
  /** Place of an expected step -> place in the plan. */
  readonly gotOf: ReadonlyMap<number, number>;
}

export function matchSteps(
  variant: PlanVariant,
  steps: readonly Pick<Step, 'tool' | 'arguments'>[],
  options: ValueOptions,
): Matching {
  const pairs = variant.steps.flatMap((expected, gold) =>
    steps.flatMap((step, got) =>
      step.tool === expected.tool ? [{ gold, got, agreement: agreementOf(expected, step, options) }] : [],
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
  return { gotOf };
}

/** Literal arguments that are right; references can't be judged before the steps are matched. */
function agreementOf(expected: VariantStep, step: Pick<Step, 'arguments'>, options: ValueOptions): number {
  return Object.entries(expected.arguments).filter(([name, value]) => {
    const got = step.arguments[name];
    return isSameValue(value, got, options) || isAccepted(expected.argumentsAnyOf[name] ?? [], got, options);
  }).length;
}

export interface ValueContext extends ValueOptions {
  variant: PlanVariant;
  steps: readonly Pick<Step, 'id'>[];
  matching: Matching;
}

export interface Judgement {
  /** As they stand in a record; no other can be said of a value that is there. */
  verdict: Extract<ArgumentVerdict, 'same' | 'form' | 'accepted' | 'different'>;
  /** The expected value comes from an earlier step. */
  isReference: boolean;
}

/**
 * A reference is right when it points to the matched step, and to the same last named field where the case names one:
 * what a result is wrapped in differs between descriptions of it.
 */
export function judgeArgument(
  { name, got }: { name: string; got: unknown },
  expected: VariantStep,
  context: ValueContext,
): Judgement {
  const value = expected.arguments[name];
  const isReference = holdsReference(value, expected.origin ?? 0);
  if (isRight(value, got, { ...context, origin: expected.origin ?? 0 }))
    return { verdict: isReference || isDeepStrictEqual(value, got) ? 'same' : 'form', isReference };
  const isOther = isAccepted(expected.argumentsAnyOf[name] ?? [], got, context);
  return { verdict: isOther ? 'accepted' : 'different', isReference };
}

function holdsReference(value: unknown, origin: number): boolean {
  if (typeof value === 'string') {
    const inside = replaceGoldReferences(value, origin, () => '');
    return inside !== undefined || readGoldReference(value, origin) !== undefined;
  }
  return typeof value === 'object' && value !== null && Object.values(value).some((one) => holdsReference(one, origin));
}

type Context = ValueContext & { origin: number };

function isRight(value: unknown, got: unknown, context: Context): boolean {
  if (typeof value === 'string') return isRightText(value, got, context);
  if (!holdsReference(value, context.origin)) return isSameValue(value, got, context);
  if (Array.isArray(value)) {
    return (
      Array.isArray(got) &&
      got.length === value.length &&
      value.every((one, place) => isRight(one, got[place], context))
    );
  }
  if (!isObject(value) || !isObject(got)) return false;
  const keys = Object.keys(value);
  return keys.length === Object.keys(got).length && keys.every((key) => isRight(value[key], got[key], context));
}

function isRightText(value: string, got: unknown, context: Context): boolean {
  const { origin } = context;
  const whole = readGoldReference(value, origin);
  if (whole) {
    if (!isThere(whole.place, context)) return true;
    const written = readPlanReference(got);
    const isField = whole.field === undefined || whole.field === written?.field;
    return written !== undefined && isField && placeOf(written.stepId, context) === matchOf(whole.place, context);
  }
  const wanted = replaceGoldReferences(value, origin, ({ place, field }) => `⟦${matchOf(place, context)}.${field}⟧`);
  if (wanted === undefined) return isSameValue(value, got, context);
  if (typeof got !== 'string') return false;
  const written = replacePlanReferences(got, ({ stepId, field }) => `⟦${placeOf(stepId, context)}.${field}⟧`);
  return isSameValue(withoutSpace(wanted), withoutSpace(written), context);
}

const withoutSpace = (text: string) => text.replace(/\s+/gu, '');

/** An alternative may do without the step that is referred to: then any value is right. */
function isThere(origin: number, { variant }: Context): boolean {
  return variant.steps.some((step) => step.origin === origin);
}

function matchOf(origin: number, { variant, matching }: Context): number | undefined {
  return matching.gotOf.get(variant.steps.findIndex((step) => step.origin === origin));
}

/** -1 where there is no such step: it equals no match. */
function placeOf(stepId: string, { steps }: Context): number {
  return steps.findIndex((step) => step.id === stepId);
}
