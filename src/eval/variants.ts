/** All right answers: the expected tools or steps, and each equivalent alternative. */
import type { CaseRecord } from './record.js';

type Expected = CaseRecord['expected'];

/** All right sets of tools, the expected one first. */
export function toolSets({ tools, alternatives = [] }: Pick<Expected, 'tools' | 'alternatives'>): string[][] {
  return [tools, ...alternatives].map((set) => [...new Set(set)]);
}

export interface PlanVariant {
  readonly steps: readonly VariantStep[];
  /** Indexes in `steps`, from and to. Undefined: the dependencies are not known. */
  readonly edges: readonly (readonly [number, number])[] | undefined;
  /** Whether the steps must come in this order where no edges are known. */
  readonly isOrdered: boolean;
  /** Index among the alternatives; undefined for the expected steps. */
  readonly alternative: number | undefined;
}

export interface VariantStep {
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly argumentsAnyOf: Readonly<Record<string, readonly unknown[]>>;
  /** Index in the expected steps, which references use. Undefined for a tool that only an alternative has. */
  readonly origin: number | undefined;
  readonly argumentsUnknown: boolean;
}

/**
 * The expected steps, then one variant for each alternative set of tools. Tools of the expected steps keep their arguments;
 * those of other tools are not known.
 */
export function planVariants({ steps, tools, alternatives = [], edges }: Expected): [PlanVariant, ...PlanVariant[]] {
  const gold: PlanVariant = steps
    ? { steps: steps.map(toStep), edges, isOrdered: true, alternative: undefined }
    : { steps: tools.map(unknownStep), edges: undefined, isOrdered: false, alternative: undefined };
  return [gold, ...alternatives.map((set, alternative) => ({ ...toVariant(set, gold), alternative }))];
}

function toStep(step: NonNullable<Expected['steps']>[number], origin: number): VariantStep {
  const { tool, arguments: values, argumentsAnyOf = {}, argumentsUnknown = false } = step;
  return { tool, arguments: values, argumentsAnyOf, origin, argumentsUnknown };
}

function unknownStep(tool: string): VariantStep {
  return { tool, arguments: {}, argumentsAnyOf: {}, origin: undefined, argumentsUnknown: true };
}

function toVariant(set: readonly string[], gold: PlanVariant): Omit<PlanVariant, 'alternative'> {
  const left = [...gold.steps];
  const steps = set.map((tool) => {
    const at = left.findIndex((step) => step.tool === tool);
    return (at < 0 ? undefined : left.splice(at, 1)[0]) ?? unknownStep(tool);
  });
  const placeOf = new Map(
    steps.flatMap(({ origin }, place) => (origin === undefined ? [] : [[origin, place] as const])),
  );
  const edges = gold.edges?.flatMap(([from, to]) => {
    const [start, end] = [placeOf.get(from), placeOf.get(to)];
    return start === undefined || end === undefined ? [] : [[start, end] as const];
  });
  return { steps, edges, isOrdered: gold.edges === undefined };
}
