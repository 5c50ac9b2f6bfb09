/** What a policy, for example an edited one, would decide: on one call, and on those of the last day. Nothing runs. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { z } from 'zod';
import type { Catalog } from '../../core/catalog/catalog.js';
import { isObject } from '../../core/catalog/schema/json.js';
import { mapSecrets } from '../../core/catalog/schema/secrets.js';
import type { Tool } from '../../core/catalog/tool.js';
import { WinnowError } from '../../core/errors.js';
import { callInputSchema, createSessionInputSchema, instantSchema, riskSchema } from '../contracts.js';
import type { PreparedArguments } from '../parts.js';
import { createSituations, type ReadSituation, type Situation } from '../sessions/situation.js';
import type { Store } from '../store/sql/sql-store.js';
import type { AuditRecord, CallRecord, SessionRecord } from '../store/store.js';
import type { Decision, Facts } from './decide.js';
import type { Policy } from './policy.js';
import { parsePolicy } from './policy-file.js';
import type { Requirement } from './requirement.js';

/** A file of thousands of rules has a tenth of it. */
const MAX_CHARACTERS = 500_000;
const MAX_CALLS = 10_000;
/** Other requests are answered between so many decisions. */
const CALLS_AT_ONCE = 100;
const DAY_MS = 86_400_000;

const policyText = z.string().max(MAX_CHARACTERS).describe('The text of a policy file, JSON or YAML.');
export const tryCallInputSchema = z.strictObject({
  ...callInputSchema.pick({ tool: true, arguments: true }).shape,
  ...createSessionInputSchema.pick({ user: true, roles: true, riskCeiling: true }).shape,
  policy: policyText.optional().describe('The text of a policy file. Default: the policy in force.'),
});
export const replayInputSchema = z.strictObject({ policy: policyText });

const verdictSchema = z.object({
  decision: z.enum(['allow', 'deny', 'needs_approval']),
  code: z.string().describe('`denied` looks to the caller like `unknown_tool`.'),
  reason: z.string(),
  rule: z.string().optional().describe('Name of the rule that decided. Absent: none did.'),
  risk: riskSchema.optional().describe('Of this call.'),
  isWarned: z.literal(true).optional().describe('The policy is not strict: code, reason and rule are those of strict.'),
});
export const triedCallSchema = verdictSchema.extend({
  issues: z.array(z.string()).optional().describe('With `invalid_arguments`: one problem each.'),
});
export const replaySchema = z.object({
  since: instantSchema,
  calls: z.int().describe(`Calls of the last day, the newest ${MAX_CALLS.toLocaleString('en')} at most.`),
  undecided: z
    .int()
    .describe('Those whose decision needs what is not kept: arguments, values of earlier calls, roles.'),
  differences: z
    .array(
      z.object({
        tool: z.string(),
        user: z.string().optional(),
        count: z.int().describe('Such calls.'),
        lastAt: instantSchema,
        before: verdictSchema.describe('By the policy in force.'),
        after: verdictSchema.describe('By the given policy.'),
      }),
    )
    .describe('Most calls first.'),
});
type Verdict = z.infer<typeof verdictSchema>;
export type TriedCall = z.infer<typeof triedCallSchema>;
export type Replay = z.infer<typeof replaySchema>;
type Difference = Replay['differences'][number];

interface TrialParts {
  store: Pick<Store, 'sessions' | 'approvals' | 'journal'>;
  catalog: () => Catalog;
  policy: () => Policy;
  prepare: (tool: Tool, given: unknown) => PreparedArguments;
  clock: () => Date;
}

export interface PolicyTrial {
  /** As for the first call of a session that has enabled the tool. @throws WinnowError `invalid_request` */
  tryCall(input: z.output<typeof tryCallInputSchema>): Promise<TriedCall>;
  /** Compares a policy with the one in force, on the audited calls. @throws WinnowError `invalid_request`, `store_failed` */
  replay(input: z.output<typeof replayInputSchema>): Promise<Replay>;
}

export function createPolicyTrial({ store, catalog, policy, prepare, clock }: TrialParts): PolicyTrial {
  const situationsUnder = (one: Policy): ReadSituation =>
    createSituations({ sessions: store.sessions, catalog, policy: () => one, clock, sessionIdleMs: DAY_MS });

  /** The arguments of an audited call where its approval holds them whole. */
  async function argumentsOf({ approval: id, argumentsHash: hash }: AuditRecord, tool: Tool | undefined) {
    const approval = id === undefined || !tool ? undefined : await store.approvals.get(id);
    const kept = [approval, approval?.granted].find((one) => one?.argumentsHash === hash)?.arguments;
    let hasSecrets = false;
    mapSecrets(tool?.inputSchema ?? {}, kept, () => {
      hasSecrets = true;
    });
    return isObject(kept) && !hasSecrets ? kept : undefined;
  }

  return {
    async tryCall({ tool: name, arguments: given, user, roles, riskCeiling, policy: text }) {
      const one = text === undefined ? policy() : await parseText(text);
      const at = clock().toISOString();
      const session = { id: '', user, roles, riskCeiling, turn: 1, createdAt: at, activeAt: at };
      const situation = await situationsUnder(one)(session);
      const tool = situation.find(name);
      const prepared = tool && situation.isAllowed(tool) ? prepare(tool, given) : undefined;
      if (prepared?.ok === false) {
        const { code, reason, issues } = prepared;
        return { decision: 'deny', code, reason, ...(issues ? { issues: [...issues] } : {}) };
      }
      const facts = { arguments: prepared?.arguments ?? given, isEnabled: true, calls: [] };
      return toVerdict(situation.decide(tool, 'call', facts));
    },

    async replay({ policy: text }) {
      const policies = [policy(), await parseText(text)];
      const since = new Date(clock().getTime() - DAY_MS).toISOString();
      const entries = await store.journal.audit({ event: 'call', since, limit: MAX_CALLS });
      const sessions = createSessionReader(store.sessions.get, policies.map(situationsUnder));
      const differences = new Map<string, Difference>();
      const counts = { calls: 0, undecided: 0 };
      for (const entry of entries.reverse()) {
        const session = await sessions.of(entry);
        // The second entry of a call that ran.
        if (entry.outcome === 'failed') {
          session?.forget(entry);
          continue;
        }
        counts.calls += 1;
        if (counts.calls % CALLS_AT_ONCE === 0) await nextTurn();
        const tool = session?.situations[0]?.find(entry.tool ?? '');
        const given = await argumentsOf(entry, tool);
        const facts = { ...session?.factsOf(entry), ...(given ? { arguments: given } : {}) };
        const [before, after] = session?.situations.map((one) => decideAgain(one, tool, facts)) ?? [];
        session?.keep(entry);
        if (!before || !after) counts.undecided += 1;
        else if (isOther(before, after)) count(differences, entry, { before, after });
      }
      const sorted = [...differences.values()].sort((one, other) => other.count - one.count);
      return { since, ...counts, differences: sorted };
    },
  };
}

async function parseText(text: string): Promise<Policy> {
  try {
    return await parsePolicy(text);
  } catch (error) {
    if (!(error instanceof WinnowError)) throw error;
    throw new WinnowError('invalid_request', error.message, { issues: error.issues, cause: error });
  }
}

/** The sessions of audited calls, read once each, with the calls that had success in them so far. */
function createSessionReader(get: (id: string) => Promise<SessionRecord | undefined>, under: readonly ReadSituation[]) {
  const known = new Map<string | undefined, ReturnType<typeof follow> | undefined>();
  return {
    async of({ session: id }: AuditRecord) {
      if (!known.has(id)) {
        const record = id === undefined ? undefined : await get(id);
        const situations = record && (await Promise.all(under.map((situationOf) => situationOf(record))));
        known.set(id, record && situations && follow(record, situations));
      }
      return known.get(id);
    },
  };
}

/** @param situations of the session, under each policy */
function follow(record: SessionRecord, situations: readonly Situation[]) {
  const calls: CallRecord[] = [];
  const { riskCeiling } = record;
  return {
    situations,
    factsOf: ({ at, turn = 1, code }: AuditRecord): Partial<Facts> => ({
      now: new Date(at),
      session: { turn, isEnded: code === 'session_ended', riskCeiling },
      isEnabled: code !== 'not_enabled',
      calls,
    }),
    keep({ at, tool = '', turn = 1, outcome }: AuditRecord) {
      if (outcome === 'allowed' || outcome === 'warned') calls.push({ session: record.id, tool, turn, at, values: {} });
    },
    forget({ tool }: AuditRecord) {
      const place = calls.findLastIndex((call) => call.tool === tool);
      if (place >= 0) calls.splice(place, 1);
    },
  };
}

/** Undefined: it depends on what is not kept. */
function decideAgain(situation: Situation, tool: Tool | undefined, facts: Partial<Facts>): Verdict | undefined {
  const ofAnyCall = situation.decide(tool, 'find', facts);
  if (!tool || ofAnyCall.decision === 'deny') return toVerdict(ofAnyCall);
  const { rules, risks, requirements } = situation.policy.of(tool);
  const required = requirements.flatMap(({ requires }) => requires);
  const hasArguments = facts.arguments !== undefined;
  const isOpen =
    required.some(comparesCalls) ||
    (!hasArguments &&
      (required.some(readsArgument) ||
        [...rules, ...risks, ...requirements].some(({ match }) => match.arguments !== undefined)));
  return isOpen ? undefined : toVerdict(situation.decide(tool, 'call', facts));
}

const comparesCalls = (one: Requirement): boolean =>
  'anyOf' in one ? one.anyOf.some(comparesCalls) : 'called' in one && one.same !== undefined;
const readsArgument = (one: Requirement): boolean =>
  'anyOf' in one ? one.anyOf.some(readsArgument) : 'argument' in one;

function toVerdict({ decision, risk, warned, ...own }: Decision): Verdict {
  const { code, reason, rule } = warned ?? own;
  return {
    decision,
    code,
    reason,
    risk,
    ...(rule === undefined ? {} : { rule }),
    ...(warned ? { isWarned: true } : {}),
  };
}

const isOther = (one: Verdict, other: Verdict) => one.decision !== other.decision || one.code !== other.code;

function count(
  all: Map<string, Difference>,
  { tool = '', user, at }: AuditRecord,
  verdicts: { before: Verdict; after: Verdict },
) {
  const key = JSON.stringify([tool, user, verdicts]);
  const { count: before = 0 } = all.get(key) ?? {};
  all.set(key, { tool, ...(user === undefined ? {} : { user }), count: before + 1, lastAt: at, ...verdicts });
}
