/** The first requirement of a call that is not met, with what to do about it. */
import type { Tool } from '../../core/catalog/tool.js';
import { canonicalHash } from '../approvals/canonical-json.js';
import type { GateCode } from '../contracts.js';
import type { CallRecord } from '../store/store.js';
import { type CalledRequirement, isWithin, type Requirement } from './requirement.js';

export interface CallFacts {
  readonly tool: Tool;
  readonly arguments?: Readonly<Record<string, unknown>>;
  readonly turn: number;
  readonly now: Date;
  /** The calls of this session that succeeded, at least of the tools that a requirement names. */
  readonly calls?: readonly CallRecord[];
}

export interface Unmet {
  readonly code: GateCode;
  readonly reason: string;
  readonly next: string;
}

export function findUnmet(requirement: Requirement, facts: CallFacts): Unmet | undefined {
  const { tool } = facts;
  if ('anyOf' in requirement) {
    const unmet = requirement.anyOf.map((one) => findUnmet(one, facts));
    return unmet.includes(undefined) ? undefined : unmet[0];
  }
  if ('argument' in requirement) {
    const { argument } = requirement;
    const value = ownValue(facts, argument);
    if (value !== undefined && value !== null && value !== '') return undefined;
    const next = `Call ${tool.name} again with "${argument}" filled in.`;
    return { code: 'missing_argument', reason: `${tool.name} needs the argument "${argument}".`, next };
  }
  if ('hours' in requirement) {
    const { from, to, days, timeZone } = requirement.hours;
    if (isWithin(requirement.hours, facts.now)) return undefined;
    const when = `from ${from} to ${to} (${timeZone})${days ? ` on ${days.join(', ')}` : ''}`;
    return { code: 'outside_hours', reason: `${tool.name} may be called ${when} only.`, next: `Try again ${when}.` };
  }
  return findUncalled(requirement, facts);
}

function findUncalled({ called, same, withinTurns }: CalledRequirement, facts: CallFacts): Unmet | undefined {
  const { tool, turn } = facts;
  const value = same === undefined ? undefined : ownValue(facts, same);
  const digest = value === undefined ? undefined : canonicalHash(value);
  const isMet = facts.calls?.some(
    (call) =>
      call.tool === called &&
      (withinTurns === undefined || call.turn > turn - withinTurns) &&
      (same === undefined || (digest !== undefined && digestsOf(call, same).includes(digest))),
  );
  if (isMet) return undefined;
  const when = whenOf(withinTurns);
  const about = same === undefined ? '' : ` for the same "${same}"`;
  return {
    code: 'precondition_unmet',
    reason: `${tool.name} needs that ${called} was called${about} with success ${when}.`,
    next: `Call ${called}${about} first, then ${tool.name} again.`,
  };
}

function whenOf(withinTurns: number | undefined): string {
  if (withinTurns === undefined) return 'in this session';
  return withinTurns === 1 ? 'in this turn' : `within ${withinTurns} turns`;
}

/** Never what an object inherits. */
function ownValue({ arguments: given = {} }: CallFacts, name: string): unknown {
  return Object.hasOwn(given, name) ? given[name] : undefined;
}

function digestsOf({ values }: CallRecord, name: string): readonly string[] {
  return (Object.hasOwn(values, name) ? values[name] : undefined) ?? [];
}
