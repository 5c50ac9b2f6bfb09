/** The policy as data. `deny` beats `needs_approval`, which beats `allow`; order does not matter. */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { isAbove } from '../../core/catalog/risk.js';
import { RISKS, type Risk, type Tool } from '../../core/catalog/tool.js';
import { oncePer } from '../../core/kept.js';
import { parseAs } from '../../core/parse.js';
import { canonicalJson } from '../approvals/canonical-json.js';
import { compileGlobs, compileToolMatch, type Match, matchSchema } from './match.js';
import { parseRequirement, type Requirement, requirementSchema } from './requirement.js';

const MINUTE_MS = 60_000;
const match = matchSchema.default({}).describe('Which calls it applies to. Default: all.');

const ruleSchema = z.strictObject({
  name: z.string().min(1).describe('Appears in the audit.'),
  match,
  decision: z.enum(['allow', 'deny', 'needs_approval']),
  reason: z.string().min(1).optional().describe('For the approver, and for the caller where arguments matter.'),
});
export type PolicyRule = z.output<typeof ruleSchema>;

const argumentRiskSchema = z.strictObject({
  match: matchSchema
    .omit({ risk: true, user: true, role: true })
    .describe('Without arguments, every call of the tools.'),
  risk: z.enum(RISKS).describe('Replaces the risk of the tool. Where several match, the highest counts.'),
});

const preconditionSchema = z.strictObject({
  match,
  requires: z.array(requirementSchema).min(1).describe('All of them must hold.'),
});

const approvalsSchema = z.strictObject({
  ttlMs: z
    .int()
    .min(1)
    .default(15 * MINUTE_MS)
    .describe('How long a request, or a grant for one call, is valid.'),
  sessionGrants: z.boolean().default(true).describe('Whether a grant may hold for all equal calls of the session.'),
  sessionGrantTtlMs: z
    .int()
    .min(1)
    .default(480 * MINUTE_MS)
    .describe('Maximum validity of such a grant.'),
  approvers: z
    .strictObject({ users: z.array(z.string().min(1)).default([]), roles: z.array(z.string().min(1)).default([]) })
    .optional()
    .describe('Who may decide, but never on their own requests. Default: operators.'),
  self: z
    .enum(['off', 'ask'])
    .default('off')
    .describe('ask: also the asker in person, by `winnow approvals` or a question of their MCP client.'),
});

const enablingSchema = z.strictObject({
  defaultTurns: z.int().min(1).default(3),
  maxTurns: z.int().min(1).default(20),
  maxEnabled: z.int().min(1).default(24).describe('Tools enabled at a time in a session; always-on ones not counted.'),
  companions: z.boolean().default(true).describe('Related tools and producers are enabled, too.'),
});

const policySchema = z.strictObject({
  mode: z.enum(['v2', 'legacy']).default('v2').describe('legacy: every tool counts as enabled.'),
  strict: z.boolean().default(true).describe('false: what would be refused is allowed, and the audit says so.'),
  default: z.enum(['allow', 'deny']).default('allow').describe('Decision where no rule applies.'),
  riskCeiling: z.enum(RISKS).default('high').describe('Highest risk in any session; a session may have a lower one.'),
  rules: z.array(ruleSchema).default([]),
  argumentRisks: z.array(argumentRiskSchema).default([]),
  preconditions: z.array(preconditionSchema).default([]),
  toolPreconditions: z
    .enum(['enforce', 'ignore'])
    .default('enforce')
    .describe("Whether tools' own preconditions are enforced, if a program can check them."),
  approvals: approvalsSchema.prefault({}),
  enabling: enablingSchema.prefault({}),
  pinned: z.array(z.string().min(1)).default([]).describe('Tools (globs) that are enabled in every session.'),
});
export type PolicyInput = z.input<typeof policySchema>;
export type PolicySettings = z.output<typeof policySchema>;

/** The parts of a policy that match one tool. */
export interface ToolPolicy {
  readonly rules: readonly PolicyRule[];
  /** Those of `rules` that can override a default of `deny`: they match the name that Winnow gives the tool. */
  readonly opening: readonly PolicyRule[];
  /** `onlyRaises`: matches the name that its server gives it, so it never lowers the risk. */
  readonly risks: readonly { match: Match; risk: Risk; onlyRaises: boolean }[];
  readonly requirements: readonly { match: Match; requires: readonly Requirement[] }[];
  /** Enabled in every session. */
  readonly stays: 'always' | 'pinned' | 'legacy' | undefined;
  /** All risks that a call of it can have, depending on its arguments; lowest first. */
  readonly reachableRisks: readonly Risk[];
}

export interface Policy {
  /** SHA-256 of the canonical settings, first 32 digits. */
  readonly version: string;
  readonly settings: PolicySettings;
  of(tool: Tool): ToolPolicy;
}

/**
 * @throws WinnowError `invalid_option`, one issue a line with the path of the field.
 * @example
 * const policy = createPolicy({ rules: [{ name: 'no installs', match: { tool: 'package_install' }, decision: 'deny' }] });
 */
export function createPolicy(input: PolicyInput = {}): Policy {
  const problem = 'The policy is not usable';
  const settings = parseAs(policySchema, input, { code: 'invalid_option', problem, root: 'policy' });
  return {
    version: createHash('sha256').update(canonicalJson(settings)).digest('hex').slice(0, 32),
    settings,
    of: oncePer(createToolPolicies(settings)),
  };
}

function createToolPolicies(settings: PolicySettings): (tool: Tool) => ToolPolicy {
  const compiled = <Part extends { match: Match }>(parts: readonly Part[], byServersWord: boolean) => {
    const all = parts.map((part) => ({ part, isAbout: compileToolMatch(part.match, { byServersWord }) }));
    return (tool: Tool) => all.filter(({ isAbout }) => isAbout(tool)).map(({ part }) => part);
  };
  const opening = settings.rules.filter(({ decision }) => decision !== 'deny');
  const restricting = settings.rules.filter(({ decision }) => decision !== 'allow');
  const openingOf = compiled(opening, false);
  const restrictingOf = compiled(restricting, true);
  const risksOf = compiled(settings.argumentRisks, false);
  const raisesOf = compiled(settings.argumentRisks, true);
  const preconditionsOf = compiled(settings.preconditions, true);
  const isPinned = compileGlobs(settings.pinned);
  return (tool) => {
    const own =
      settings.toolPreconditions === 'enforce'
        ? tool.preconditions.flatMap((text) => parseRequirement(text) ?? [])
        : [];
    const byName = new Set(risksOf(tool));
    const risks = raisesOf(tool).map((part) => ({ ...part, onlyRaises: !byName.has(part) }));
    const opens = openingOf(tool);
    return {
      rules: [...new Set([...opens, ...restrictingOf(tool)])],
      opening: opens,
      risks,
      requirements: [...preconditionsOf(tool), ...(own.length > 0 ? [{ match: {}, requires: own }] : [])],
      stays: staysOf(tool, settings.mode, isPinned(tool.name)),
      reachableRisks: reachableFrom(tool, risks),
    };
  };
}

/** A risk set for every call replaces the tool's own, and is the minimum for all others. */
function reachableFrom(tool: Tool, parts: ToolPolicy['risks']): Risk[] {
  const isSure = ({ match }: { match: Match }) => match.arguments === undefined;
  const risksOf = (some: ToolPolicy['risks']) => some.map(({ risk }) => risk);
  const placing = parts.filter(({ onlyRaises }) => !onlyRaises);
  const surely = risksOf(placing.filter(isSure));
  const bases = surely.length > 0 ? [highestOf(surely)] : [tool.risk, ...risksOf(placing)];
  const lowest = RISKS.find((risk) => bases.includes(risk)) ?? tool.risk;
  const floor = highestOf([lowest, ...risksOf(parts.filter(isSure))]);
  const possible = [...bases, ...risksOf(parts)];
  return RISKS.filter((risk) => possible.includes(risk) && !isAbove(floor, risk));
}

/** @param parts those that match the call */
export function riskOfCall(tool: Tool, parts: ToolPolicy['risks']): Risk {
  const placing = parts.filter(({ onlyRaises }) => !onlyRaises);
  return highestOf([...(placing.length > 0 ? [] : [tool.risk]), ...parts.map(({ risk }) => risk)]);
}

function highestOf(risks: readonly Risk[]): Risk {
  return risks.reduce((high, risk) => (isAbove(risk, high) ? risk : high), 'low');
}

function staysOf(tool: Tool, mode: PolicySettings['mode'], isPinned: boolean): ToolPolicy['stays'] {
  if (tool.alwaysLoad) return 'always';
  if (isPinned) return 'pinned';
  return mode === 'legacy' ? 'legacy' : undefined;
}

/** A part with a match, and the path by which an operator finds it. */
export interface PolicyPart {
  readonly path: string;
  readonly match: Match;
  /** Whether it refuses the calls that it matches, requires approval or raises their risk. */
  readonly restricts: boolean;
}

export function partsOf({ rules, argumentRisks, preconditions }: PolicySettings): PolicyPart[] {
  return [
    ...rules.map(({ name, match, decision }) => ({ path: `rules "${name}"`, match, restricts: decision !== 'allow' })),
    ...argumentRisks.map(({ match, risk }, index) => ({
      path: `argumentRisks[${index}]`,
      match,
      restricts: risk !== 'low',
    })),
    ...preconditions.map(({ match }, index) => ({ path: `preconditions[${index}]`, match, restricts: true })),
  ];
}

/** Whether the part matches the tool, for any caller and arguments. */
export function toolsOf({ match, restricts }: PolicyPart): (tool: Tool) => boolean {
  return compileToolMatch(match, { byServersWord: restricts });
}
