/**
 * The one decision on a tool. Search, list, enable and run ask this and nothing else: a call passes all that finding
 * passes and more, so nobody finds what they may not run. Pure: the same policy and facts give the same answer.
 */
import type { Risk, Tool } from '../../catalog/tool.js';
import type { CallRecord } from '../../store/store.js';
import type { GateCode, Refusal } from '../contracts.js';
import { type Match, matchesArguments, matchesCaller } from './match.js';
import { isAbove, type Policy, type PolicyRule, type ToolPolicy } from './policy.js';
import { findUnmet } from './unmet.js';

export interface Facts {
  /** What for: to be shown, to be enabled, or to be run now. */
  readonly purpose: 'find' | 'enable' | 'call';
  /** Undefined: there is no such tool in the caller's scope. */
  readonly tool: Tool | undefined;
  readonly caller: { readonly user?: string | undefined; readonly roles: readonly string[] };
  readonly session: { readonly turn: number; readonly isEnded: boolean; readonly riskCeiling?: Risk | undefined };
  readonly now: Date;
  /** Call only. */
  readonly isEnabled?: boolean;
  /** Call only: it is for later, so what may change until then is not in the way: enabling, earlier calls, hours. */
  readonly isAhead?: boolean;
  /** Call only. */
  readonly arguments?: Readonly<Record<string, unknown>>;
  /** Call only: those of this session that succeeded, at least of the tools that a requirement names. */
  readonly calls?: readonly CallRecord[];
}

export type DecisionCode = GateCode | 'allowed' | 'denied';

export interface Decision {
  readonly decision: 'allow' | 'deny' | 'needs_approval';
  /** `denied` is for the audit; a caller is told `unknown_tool`, see `refusalOf`. */
  readonly code: DecisionCode;
  readonly reason: string;
  readonly next: string;
  /** Of the call, as its arguments make it; before there is one, the lowest that is possible. */
  readonly risk: Risk;
  /** Allowed only because the policy is not strict: what strict says. */
  readonly warned?: Decision;
}

/** What no setting lifts. */
const ALWAYS_REFUSED: ReadonlySet<DecisionCode> = new Set(['unknown_tool', 'session_ended', 'unavailable']);

export function decide(policy: Policy, facts: Facts): Decision {
  const decision = decideStrictly(policy, facts);
  if (policy.settings.strict || decision.decision === 'allow' || ALWAYS_REFUSED.has(decision.code)) return decision;
  return { ...ALLOWED, risk: decision.risk, warned: decision };
}

/** What the caller is told: a tool that is denied looks like one that does not exist. */
export function refusalOf({ code, reason, next }: Decision, name: string): Refusal {
  if (code !== 'denied' && code !== 'unknown_tool') return { code, reason, next };
  return {
    code: 'unknown_tool',
    reason: `There is no tool "${name}".`,
    next: 'Look for a fitting tool with tool_search and use a name as it gives it.',
  };
}

const ALLOWED = { decision: 'allow', code: 'allowed', reason: 'Nothing is in the way.', next: 'Go on.' } as const;

/** Facts about a tool that is there. */
interface ToolFacts extends Facts {
  readonly tool: Tool;
  readonly own: ToolPolicy;
  readonly risk: Risk;
}

function decideStrictly(policy: Policy, facts: Facts): Decision {
  const { tool } = facts;
  if (facts.session.isEnded) return deny('session_ended', 'The session has ended.', 'Open a new session.');
  if (!tool) return deny('unknown_tool', 'No such tool is in the scope of the caller.', '');
  const own = policy.of(tool);
  const known = { ...facts, tool, own, risk: riskOf(tool, own, facts) };
  return (
    decideTool(policy, known) ??
    (facts.purpose === 'call' ? decideCall(policy, known) : undefined) ??
    askForApproval(known) ?? { ...ALLOWED, risk: known.risk }
  );
}

function riskOf(tool: Tool, own: ToolPolicy, { purpose, arguments: given = {} }: Facts): Risk {
  if (purpose !== 'call') return own.reachableRisks[0] ?? tool.risk;
  const risks = own.risks.filter(({ match }) => matchesArguments(match, given)).map(({ risk }) => risk);
  return risks.length === 0 ? tool.risk : risks.reduce((high, one) => (isAbove(one, high) ? one : high));
}

/** What holds whatever the arguments are. */
function decideTool({ settings }: Policy, facts: ToolFacts): Decision | undefined {
  const { tool, own, risk, session } = facts;
  const rule = own.rules.find(({ decision, match }) => decision === 'deny' && isCertain(match, facts));
  if (rule) return deny('denied', `The rule "${rule.name}" denies it.`, '', risk);
  if (settings.default === 'deny' && !own.rules.some((one) => one.decision !== 'deny' && isPossible(one.match, facts)))
    return deny('denied', 'No rule allows it, and the default is to deny.', '', risk);
  const highest = settings.riskCeiling;
  const ceiling = session.riskCeiling && isAbove(highest, session.riskCeiling) ? session.riskCeiling : highest;
  if (isAbove(risk, ceiling)) {
    const reason = `${tool.name} has ${risk} risk here, and this session may use ${ceiling} risk at most.`;
    return deny('too_risky', reason, 'Use a tool of lower risk, or ask the operator for a higher ceiling.', risk);
  }
  if (tool.available) return undefined;
  return deny('unavailable', `${tool.name} is out of service.`, 'Use another tool, or try again later.', risk);
}

/** What depends on the moment and on the arguments. */
function decideCall({ settings }: Policy, facts: ToolFacts): Decision | undefined {
  const { tool, own, risk, session } = facts;
  if (!facts.isAhead && !facts.isEnabled && own.stays === undefined) {
    const next = `Call tool_enable with {"names": [${JSON.stringify(tool.name)}]}, then call it again.`;
    return deny('not_enabled', `${tool.name} is not enabled in this session.`, next, risk);
  }
  const rules = rulesOf(facts);
  const otherwise = `Call ${tool.name} with other arguments, or use another tool.`;
  const denying = rules.find(({ decision }) => decision === 'deny');
  if (denying) {
    const reason = denying.reason ?? `The rule "${denying.name}" does not allow these arguments.`;
    return deny('not_allowed', reason, otherwise, risk);
  }
  if (settings.default === 'deny' && rules.length === 0)
    return deny('not_allowed', 'No rule allows these arguments.', otherwise, risk);
  for (const { match, requires } of own.requirements) {
    if (!applies(match, facts)) continue;
    for (const requirement of requires) {
      if (facts.isAhead && !('argument' in requirement)) continue;
      const unmet = findUnmet(requirement, { ...facts, turn: session.turn });
      if (unmet) return deny(unmet.code, unmet.reason, unmet.next, risk);
    }
  }
  return undefined;
}

/** High risk is always approved, whatever the rules say. */
function askForApproval(facts: ToolFacts): Decision | undefined {
  const { tool, risk } = facts;
  const rule = rulesOf(facts).find(({ decision }) => decision === 'needs_approval');
  if (!rule && risk !== 'high') return undefined;
  const reason = rule ? (rule.reason ?? `The rule "${rule.name}" asks for approval.`) : `${tool.name} has high risk.`;
  const next = 'Wait until somebody else has approved it, then make the same call again.';
  return { decision: 'needs_approval', code: 'needs_approval', reason, next, risk };
}

function rulesOf(facts: ToolFacts): PolicyRule[] {
  return facts.own.rules.filter(({ match }) => (facts.purpose === 'call' ? applies : isCertain)(match, facts));
}

/** To this very call. */
function applies(match: Match, { caller, risk, arguments: given = {} }: ToolFacts): boolean {
  return matchesCaller(match, caller) && (match.risk?.includes(risk) ?? true) && matchesArguments(match, given);
}

/** To every call of the tool. */
function isCertain(match: Match, { caller, own }: ToolFacts): boolean {
  const { risk } = match;
  return (
    match.arguments === undefined &&
    matchesCaller(match, caller) &&
    (risk === undefined || own.reachableRisks.every((one) => risk.includes(one)))
  );
}

/** To some call of the tool. */
function isPossible(match: Match, { caller, own }: ToolFacts): boolean {
  return matchesCaller(match, caller) && (match.risk?.some((one) => own.reachableRisks.includes(one)) ?? true);
}

function deny(code: DecisionCode, reason: string, next: string, risk: Risk = 'high'): Decision {
  return { decision: 'deny', code, reason, next, risk };
}
