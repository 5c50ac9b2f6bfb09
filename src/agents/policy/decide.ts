/**
 * The single decision on a tool, which search, list, enable and run all use. A call passes all checks of finding and
 * more, so callers find only what they may run. Pure: the same policy and facts give the same decision.
 */

import { isAbove } from '../../core/catalog/risk.js';
import { createStepBudget, type StepBudget } from '../../core/catalog/schema/safe-pattern.js';
import type { Risk, Tool } from '../../core/catalog/tool.js';
import type { Digest } from '../approvals/canonical-json.js';
import { nextWhilePending } from '../approvals/deciding.js';
import type { Caller, GateCode, Refusal } from '../contracts.js';
import type { CallRecord } from '../store/store.js';
import { type Match, type MatchCaller, matchesArguments, matchesCaller, matchesWhole } from './match.js';
import { type Policy, type PolicyRule, type PolicySettings, partsOf, riskOfCall, type ToolPolicy } from './policy.js';
import { findUnmet } from './requirement.js';

export interface Facts {
  /** Whether the tool is to be shown, enabled, or run now. */
  readonly purpose: 'find' | 'enable' | 'call';
  /** Undefined: there is no such tool in the caller's scope. */
  readonly tool: Tool | undefined;
  readonly caller: { readonly user?: string | undefined; readonly roles: readonly string[] };
  readonly session: { readonly turn: number; readonly isEnded: boolean; readonly riskCeiling?: Risk | undefined };
  readonly now: Date;
  /** Call only. */
  readonly isEnabled?: boolean;
  /** Call only: it will run later, so enabling, earlier calls and hours are not checked: they may change. */
  readonly isAhead?: boolean;
  /** Call only. */
  readonly arguments?: Readonly<Record<string, unknown>>;
  /** Call only: why calls of the tool fail for everybody now. */
  readonly whyDown?: ((tool: Tool) => string | undefined) | undefined;
  /** Call only: successful calls of this session, at least of the tools that requirements name. */
  readonly calls?: readonly CallRecord[];
  /** The digest that made the values of `calls`. */
  readonly digest?: Digest;
}

export type DecisionCode = GateCode | 'allowed' | 'denied';

export interface Decision {
  readonly decision: 'allow' | 'deny' | 'needs_approval';
  /** `denied` is for the audit; callers get `unknown_tool`, see `refusalOf`. */
  readonly code: DecisionCode;
  readonly reason: string;
  readonly next: string;
  /** The risk of the call with its arguments; without a call, the lowest possible one. */
  readonly risk: Risk;
  /** Name of the rule that decided; undefined: none did. For operators only. */
  readonly rule?: string | undefined;
  /** Set where a policy that is not strict allows the call: the strict decision. */
  readonly warned?: Decision;
}

/** Refusals that no setting lifts. */
const ALWAYS_REFUSED: ReadonlySet<DecisionCode> = new Set(['unknown_tool', 'session_ended', 'unavailable']);

export function decide(policy: Policy, facts: Facts): Decision {
  const decision = decideStrictly(policy, facts);
  if (policy.settings.strict || decision.decision === 'allow' || ALWAYS_REFUSED.has(decision.code)) return decision;
  return { ...ALLOWED, risk: decision.risk, warned: decision };
}

/** The refusal for the caller, to whom a denied tool looks like one that does not exist. */
export function refusalOf({ code, reason, next }: Decision, name: string): Refusal {
  if (code !== 'denied' && code !== 'unknown_tool') return { code, reason, next };
  return {
    code: 'unknown_tool',
    reason: `There is no tool "${name}".`,
    next: 'Look for a fitting tool with tool_search and use a name as it gives it.',
  };
}

const ALLOWED = { decision: 'allow', code: 'allowed', reason: 'Nothing is in the way.', next: 'Go on.' } as const;

/** Facts about an existing tool. */
interface ToolFacts extends Facts, Rated {
  readonly tool: Tool;
  readonly own: ToolPolicy;
  readonly budget: StepBudget;
}

interface Rated {
  readonly risk: Risk;
  /** The part that left the risk undecided. */
  readonly undecided?: Undecided | undefined;
}

function decideStrictly(policy: Policy, facts: Facts): Decision {
  const { tool } = facts;
  if (facts.session.isEnded) return deny('session_ended', 'The session has ended.', 'Open a new session.');
  if (!tool) return deny('unknown_tool', 'No such tool is in the scope of the caller.', '');
  const own = policy.of(tool);
  const unrated = { ...facts, tool, own, risk: tool.risk, budget: createStepBudget('operator') };
  const known: ToolFacts = { ...unrated, ...rate(unrated) };
  const isCall = facts.purpose === 'call';
  const refusal = decideTool(policy, known) ?? (isCall ? decideEnabled(known) : undefined);
  if (refusal) return refusal;
  const rules = isCall
    ? applyingTo(
        known,
        own.rules.filter((rule) => rule.decision !== 'allow' || matchesWhole(rule.match, known.arguments)),
      )
    : { parts: own.rules.filter(({ match }) => isCertain(match, known)) };
  return (
    (isCall ? decideCall(policy, known, rules) : undefined) ??
    askForApproval(policy, known, rules.parts) ?? {
      ...ALLOWED,
      risk: known.risk,
      rule: rules.parts.find(({ decision }) => decision === 'allow')?.name,
    }
  );
}

/** The risk of the call; where a pattern takes too long, the highest possible one. */
function rate(facts: ToolFacts): Rated {
  const { tool, own, purpose } = facts;
  if (purpose !== 'call') return { risk: own.reachableRisks[0] ?? tool.risk };
  const { parts, undecided } = applyingTo(facts, own.risks);
  if (undecided) return { risk: own.reachableRisks.at(-1) ?? tool.risk, undecided };
  return {
    risk: riskOfCall(
      tool,
      parts.map((part) => ({ ...part, onlyRaises: part.onlyRaises || !matchesWhole(part.match, facts.arguments) })),
    ),
  };
}

/** Checks that don't depend on the arguments. */
function decideTool({ settings }: Policy, facts: ToolFacts): Decision | undefined {
  const { tool, own, risk, session } = facts;
  const rule = own.rules.find(({ decision, match }) => decision === 'deny' && isCertain(match, facts));
  if (rule) return { ...deny('denied', `The rule "${rule.name}" denies it.`, '', risk), rule: rule.name };
  if (settings.default === 'deny' && !own.opening.some((one) => isPossible(one.match, facts)))
    return deny('denied', 'No rule allows it, and the default is to deny.', '', risk);
  if (facts.undecided) return denyUndecided(settings, facts, facts.undecided);
  const highest = settings.riskCeiling;
  const ceiling = session.riskCeiling && isAbove(highest, session.riskCeiling) ? session.riskCeiling : highest;
  if (isAbove(risk, ceiling)) {
    const reason = `${tool.name} has ${risk} risk here, and this session may use ${ceiling} risk at most.`;
    return deny('too_risky', reason, 'Use a tool of lower risk, or ask the operator for a higher ceiling.', risk);
  }
  if (tool.available) return undefined;
  return deny('unavailable', `${tool.name} is out of service.`, LATER, risk);
}

function decideEnabled({ tool, own, risk, isAhead, isEnabled }: ToolFacts): Decision | undefined {
  if (isAhead || isEnabled || own.stays !== undefined) return undefined;
  const next = `Call tool_enable with {"names": [${JSON.stringify(tool.name)}]}, then call it again.`;
  return deny('not_enabled', `${tool.name} is not enabled in this session.`, next, risk);
}

/** Checks that depend on the time and the arguments. */
function decideCall({ settings }: Policy, facts: ToolFacts, rules: Applying<PolicyRule>): Decision | undefined {
  const { tool, own, risk, session } = facts;
  const otherwise = `Call ${tool.name} with other arguments, or use another tool.`;
  const denying = rules.parts.find(({ decision }) => decision === 'deny');
  if (denying) {
    const reason = denying.reason ?? `The rule "${denying.name}" does not allow these arguments.`;
    return { ...deny('not_allowed', reason, otherwise, risk), rule: denying.name };
  }
  if (rules.undecided) return denyUndecided(settings, facts, rules.undecided);
  if (
    settings.default === 'deny' &&
    !rules.parts.some((rule) => own.opening.includes(rule) && matchesWhole(rule.match, facts.arguments))
  )
    return deny('not_allowed', 'No rule allows these arguments.', otherwise, risk);
  const required = applyingTo(facts, own.requirements);
  for (const requirement of required.parts.flatMap(({ requires }) => requires)) {
    if (facts.isAhead && !('argument' in requirement)) continue;
    const unmet = findUnmet(requirement, { ...facts, turn: session.turn });
    if (unmet) return deny(unmet.code, unmet.reason, unmet.next, risk);
  }
  if (required.undecided) return denyUndecided(settings, facts, required.undecided);
  // Checked first, so that nothing is approved in vain.
  const down = facts.isAhead ? undefined : facts.whyDown?.(tool);
  return down === undefined ? undefined : deny('unavailable', `${down}.`, LATER, risk);
}

const LATER = 'Use another tool, or try again later.';

/** High risk always needs approval, whatever the rules say. */
function askForApproval({ settings }: Policy, facts: ToolFacts, rules: readonly PolicyRule[]): Decision | undefined {
  const { tool, risk, caller } = facts;
  const rule = rules.find(({ decision }) => decision === 'needs_approval');
  if (!rule && risk !== 'high') return undefined;
  const reason = rule ? (rule.reason ?? `The rule "${rule.name}" asks for approval.`) : `${tool.name} has high risk.`;
  const next = nextWhilePending(settings.approvals, caller.user);
  return { decision: 'needs_approval', code: 'needs_approval', reason, next, risk, rule: rule?.name };
}

function deny(code: DecisionCode, reason: string, next: string, risk: Risk = 'high'): Decision {
  return { decision: 'deny', code, reason, next, risk };
}

/** Refuses the call, so that a slow text can neither evade a rule nor lower the risk. */
function denyUndecided(settings: PolicySettings, { tool, risk }: ToolFacts, { match, argument }: Undecided): Decision {
  const path = partsOf(settings).find((part) => part.match === match)?.path;
  const reason = `The pattern for "${argument}" in ${path} of the policy takes too long on this text.`;
  return deny('not_allowed', reason, `Call ${tool.name} with another or a shorter "${argument}".`, risk);
}

// Which parts of a policy match a call or, without one, all or some calls of the tool.

/** A part that may or may not match the call: the pattern for the argument took too long. */
interface Undecided {
  readonly match: Match;
  readonly argument: string;
}

interface Applying<Part> {
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

/** Parts that match this call. Stops at the first undecided part, since the call is then refused anyway. */
function applyingTo<Part extends { readonly match: Match }>(
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

/** Whether it matches every call of the tool. */
function isCertain(match: Match, { caller, own }: AnyCallFacts): boolean {
  const { risk } = match;
  return (
    match.arguments === undefined &&
    matchesCaller(match, caller) &&
    (risk === undefined || own.reachableRisks.every((one) => risk.includes(one)))
  );
}

/** Whether it can match some call of the tool. */
function isPossible(match: Match, { caller, own }: AnyCallFacts): boolean {
  return matchesCaller(match, caller) && (match.risk?.some((one) => own.reachableRisks.includes(one)) ?? true);
}

// Tools that a policy hides from a caller in any session: for plans and lists outside sessions, and for runs.

/** @param tools those in the scope of the caller. @returns names, for the `deny` of a request */
export function hiddenTools(policy: Policy, tools: readonly Tool[], caller: Caller): string[] {
  return tools.filter((tool) => decideOutside(policy, tool, caller).decision === 'deny').map(({ name }) => name);
}

/** Finds the tools but for those that are denied: to the caller, they look like ones that do not exist. */
export function findUndenied(policy: Policy, tools: ReadonlyMap<string, Tool>, caller: Caller) {
  return (name: string): Tool | undefined => {
    const tool = tools.get(name);
    return tool && decideOutside(policy, tool, caller).code !== 'denied' ? tool : undefined;
  };
}

function decideOutside(policy: Policy, tool: Tool, { user, roles = [] }: Caller): Decision {
  const session = { turn: 1, isEnded: false };
  return decide(policy, { purpose: 'find', tool, caller: { user, roles }, session, now: new Date() });
}
