/** Which parts of a policy are about a call; and before there is one, about all or some calls of the tool. */
import type { StepBudget } from '../../core/catalog/schema/safe-pattern.js';
import type { Risk } from '../../core/catalog/tool.js';
import { type Match, type MatchCaller, matchesArguments, matchesCaller } from './match.js';
import type { ToolPolicy } from './policy.js';

/** A part of which nobody knows whether it is about the call: the pattern for the argument took too long. */
export interface Undecided {
  readonly match: Match;
  readonly argument: string;
}

export interface Applying<Part> {
  readonly parts: readonly Part[];
  readonly undecided?: Undecided | undefined;
}

interface CallFacts {
  readonly caller: MatchCaller;
  readonly risk: Risk;
  readonly arguments?: Readonly<Record<string, unknown>>;
  readonly budget: StepBudget;
}

interface AnyCallFacts {
  readonly caller: MatchCaller;
  readonly own: ToolPolicy;
}

/** To this very call. The first part that is undecided ends it: whatever the others say, the call is refused. */
export function applyingTo<Part extends { readonly match: Match }>(
  { caller, risk, arguments: given = {}, budget }: CallFacts,
  parts: readonly Part[],
): Applying<Part> {
  const applying: Part[] = [];
  for (const part of parts) {
    const { match } = part;
    if (!matchesCaller(match, caller) || !(match.risk?.includes(risk) ?? true)) continue;
    const isMet = matchesArguments(match, given, budget);
    if (typeof isMet === 'object') return { parts: applying, undecided: { match, argument: isMet.undecided } };
    if (isMet) applying.push(part);
  }
  return { parts: applying };
}

/** To every call of the tool. */
export function isCertain(match: Match, { caller, own }: AnyCallFacts): boolean {
  const { risk } = match;
  return (
    match.arguments === undefined &&
    matchesCaller(match, caller) &&
    (risk === undefined || own.reachableRisks.every((one) => risk.includes(one)))
  );
}

/** To some call of the tool. */
export function isPossible(match: Match, { caller, own }: AnyCallFacts): boolean {
  return matchesCaller(match, caller) && (match.risk?.some((one) => own.reachableRisks.includes(one)) ?? true);
}
