/** A plan beside a variant of what is expected, argument by argument: what the scores count and what a report shows. */
import type { Step } from '../core/result.js';
import { judgeArgument, type ValueContext } from './match-steps.js';
import type { ArgumentVerdict } from './record.js';
import { isSameValue, type ValueOptions } from './values.js';
import type { VariantStep } from './variants.js';

export interface ComparedStep {
  /** Place among the expected steps; undefined: a step too many. */
  readonly expected?: number;
  /** Place in the plan; undefined: the step is missing. */
  readonly got?: number;
  readonly arguments: readonly ComparedArgument[];
}

export interface ComparedArgument {
  readonly name: string;
  readonly verdict: ArgumentVerdict;
  /** The expected step has it. */
  readonly isWanted: boolean;
  /** The expected value comes from an earlier step. */
  readonly isReference: boolean;
}

export interface CompareOptions extends ValueOptions {
  /**
   * The value that a tool takes for an argument that is left out; undefined where its schema has none. Such an argument
   * is as good left out as written down, on either side.
   */
  defaultOf?: ((tool: string, argument: string) => unknown) | undefined;
}

interface Context extends CompareOptions, ValueContext {
  steps: readonly Step[];
}

/** The expected steps in their order, then those that the plan has besides. */
export function compareSteps(context: Context): ComparedStep[] {
  const { variant, steps, matching } = context;
  const matched = new Set(matching.gotOf.values());
  const wanted = variant.steps.map((step, expected): ComparedStep => {
    const got = matching.gotOf.get(expected);
    const compared = compareArguments(step, steps[got ?? -1], context);
    return { expected, ...(got === undefined ? {} : { got }), arguments: compared };
  });
  const further = steps.flatMap((step, got): ComparedStep[] =>
    matched.has(got)
      ? []
      : [{ got, arguments: Object.entries(step.arguments).map((one) => judgeFurther(one, step.tool, context)) }],
  );
  return [...wanted, ...further];
}

function compareArguments(expected: VariantStep, got: Step | undefined, context: Context): ComparedArgument[] {
  const written = Object.entries(got?.arguments ?? {});
  if (expected.argumentsUnknown) return written.map(([name]) => unwanted(name, 'unjudged'));
  const further = written.filter(([name]) => !Object.hasOwn(expected.arguments, name));
  return [
    ...Object.keys(expected.arguments).map((name) => judgeWanted(name, { expected, got }, context)),
    ...further.map(([name, value]) => {
      const { verdict } = judgeArgument({ name, got: value }, expected, context);
      return verdict === 'different' ? judgeFurther([name, value], expected.tool, context) : unwanted(name, verdict);
    }),
  ];
}

function judgeWanted(
  name: string,
  { expected, got }: { expected: VariantStep; got: Step | undefined },
  context: Context,
): ComparedArgument {
  const isWritten = got !== undefined && Object.hasOwn(got.arguments, name);
  const value = isWritten ? got.arguments[name] : got && context.defaultOf?.(expected.tool, name);
  const { verdict, isReference } = judgeArgument({ name, got: value }, expected, context);
  const judged = (one: ArgumentVerdict) => ({ name, verdict: one, isWanted: true, isReference });
  if (isWritten) return judged(verdict);
  if (got && expected.argumentsAnyOf[name]?.includes('')) return judged('optional');
  return judged(value !== undefined && verdict !== 'different' ? 'default' : 'missing');
}

function judgeFurther([name, value]: readonly [string, unknown], tool: string, context: Context): ComparedArgument {
  const given = context.defaultOf?.(tool, name);
  return unwanted(name, given !== undefined && isSameValue(given, value, context) ? 'default' : 'extra');
}

function unwanted(name: string, verdict: ArgumentVerdict): ComparedArgument {
  return { name, verdict, isWanted: false, isReference: false };
}
