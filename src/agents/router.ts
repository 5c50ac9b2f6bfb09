/**
 * What agents request in a session, behind one gate: search, enable, list, call. The path of a call is one function
 * here: session, arguments, decision, approval, use, audit, run, record.
 */
import { parseInput } from '../core/parse.js';
import type { ArgumentSources } from '../core/result.js';
import { maskKeysIn } from '../core/secret-forms.js';
import { withSpan } from '../core/spans.js';
import { type Approvals, createApprovals, type PlanGrant } from './approvals/approvals.js';
import { createKeyedDigest } from './approvals/canonical-json.js';
import { createCallGate, type Passed } from './calls/call-gate.js';
import { type Preview, type PreviewInput, previewInputSchema, toPreview } from './calls/preview.js';
import { runCall } from './calls/run-call.js';
import {
  type Caller,
  type CallInput,
  type CallResult,
  type CreateSessionInput,
  callInputSchema,
  type DisableInput,
  type DisableOutput,
  disableInputSchema,
  type EnableInput,
  type EnableOutput,
  enableInputSchema,
  type ListedTool,
  type ListInput,
  type ListOutput,
  listInputSchema,
  refusedSearch,
  type SearchInput,
  type SearchOutput,
  type SessionView,
  searchInputSchema,
} from './contracts.js';
import { fingerprintEnabled, handOut } from './hand-out.js';
import type { CallListeners } from './hearing.js';
import { createLedger } from './ledger.js';
import { createToolChanges, type RouterParts } from './parts.js';
import type { PolicyReload } from './policy/policy-file.js';
import { createRetention, parseQuotas, parseRetention } from './quotas.js';
import {
  type ApprovalOutput,
  type AuditEntry,
  type AuditQuery,
  auditQuerySchema,
  type RequestApprovalInput,
  requestApprovalInputSchema,
} from './records.js';
import { createPlanApprovals, type PlanApprovals } from './runs/plan-approvals.js';
import { type CallFailure, isBeforeTool } from './sandbox/failure.js';
import { disableTools, enableTools, findRefused, SESSION_ENDED } from './sessions/enabling.js';
import { createSessions } from './sessions/sessions.js';
import { createSituations, sessionContext } from './sessions/situation.js';

export interface AskOptions {
  /** Who asks; other users' sessions then look missing. Absent: the embedding program, which is trusted. */
  caller?: Caller | undefined;
  signal?: AbortSignal | undefined;
}

export interface CallAskOptions extends AskOptions, CallListeners {
  /** Argument sources of the plan step, shown to the approver. Default: the call comes without a plan. */
  sources?: ArgumentSources | undefined;
  /** The grant of a plan that was approved as a whole. Only runs of plans set it, never a caller. */
  plan?: PlanGrant | undefined;
  /** Called right before the tool. What it throws ends the call, and nothing is used up. Default: not called. */
  beforeTool?: (() => Promise<void>) | undefined;
}

/** Each throws WinnowError `invalid_request` for a wrong input, `not_found` for an unknown session, `store_failed`. */
export interface Router {
  /** @param about `isForOneRequest`: the session may end with its request; looks alone are not audited */
  createSession(input?: CreateSessionInput, about?: { isForOneRequest?: boolean }): Promise<SessionView>;
  /** The tools that a new session of this owner would start with. Opens no session and writes nothing. */
  startingTools(owner: CreateSessionInput): Promise<ListedTool[]>;
  session(id: string, ask?: AskOptions): Promise<SessionView>;
  sessions(query?: { user?: string | undefined; limit?: number }): Promise<SessionView[]>;
  beginTurn(id: string, ask?: AskOptions): Promise<SessionView>;
  endSession(id: string, ask?: AskOptions): Promise<SessionView>;
  search(id: string, input: SearchInput, ask?: AskOptions): Promise<SearchOutput>;
  enable(id: string, input: EnableInput, ask?: AskOptions): Promise<EnableOutput>;
  /** What the policy would refuse to `enable`, for a dry run: changes nothing, and writes no audit or telemetry. */
  wouldReject(id: string, input: DisableInput, ask?: AskOptions): Promise<EnableOutput['rejected']>;
  disable(id: string, input: DisableInput, ask?: AskOptions): Promise<DisableOutput>;
  list(id: string, input?: ListInput, ask?: AskOptions): Promise<ListOutput>;
  /** A refusal is a result: it says what to do next. */
  call(id: string, input: CallInput, ask?: CallAskOptions): Promise<CallResult>;
  /** What the call would get if the tool were enabled, and earlier calls and hours fitted. Runs and writes nothing. */
  preview(id: string, input: PreviewInput, ask?: AskOptions): Promise<Preview>;
  /**
   * Requests the approval of exactly this call, and makes no call. Enabling, earlier calls and hours are not checked
   * yet; what could never be allowed is refused with the code that the call would get.
   */
  requestApproval(id: string, input: RequestApprovalInput, ask?: CallAskOptions): Promise<ApprovalOutput>;
  readonly approvals: Omit<Approvals, 'pass' | 'giveBack' | 'ask' | 'compareStep'>;
  readonly planApprovals: PlanApprovals;
  /** Changes when the list of enabled tools does; not audited. */
  fingerprint(id: string, ask?: AskOptions): Promise<string>;
  /**
   * Calls back when policy, catalogue or always-on tools have changed: a session may then be able to call other tools.
   * @returns a function that removes the listener
   */
  onToolsChange(listener: () => void): () => void;
  /** Newest first. */
  audit(query?: AuditQuery): Promise<AuditEntry[]>;
  /** Reads the policy again; an invalid one keeps the old one. Both are audited. Never throws for the file. */
  reloadPolicy(): Promise<PolicyReload>;
  /** Removes idle sessions and old records, and marks expired approvals; call it periodically. */
  sweep(): Promise<void>;
}

const DAY_MS = 86_400_000;
const LOOK = { isLook: true } as const;
/** Characters. */
const MAX_AUDITED_QUERY = 200;

/**
 * Sessions of agents: search, enable and call pass one policy, and all state is in the store.
 * @example
 * const { search } = createDiscovery({ catalog: () => catalog });
 * const { prepare, run: execute } = createSandbox({ executors: [createFunctionExecutor(functions)] });
 * const router = createRouter({ store, catalog: () => catalog, policy, search, prepare, execute });
 */
export function createRouter(parts: RouterParts): Router {
  const { store, catalog, clock = () => new Date() } = parts;
  const { changes = createToolChanges() } = parts;
  const { sessionIdleMs = DAY_MS, visibleFrom = 'next_request' } = parts.options ?? {};
  const quotas = parseQuotas(parts.options?.quotas);
  const policy = () => parts.policy.current();
  const ledger = createLedger({ journal: store.journal, clock, onEvent: parts.onEvent });
  const { alwaysOn, whyDown } = parts;
  const facts = { sessions: store.sessions, catalog, policy, alwaysOn, whyDown };
  const situationOf = createSituations({ ...facts, clock, sessionIdleMs });
  const approvals = createApprovals({
    store: store.approvals,
    policy,
    clock,
    quotas,
    toAudit: ledger.toAudit,
    edit: async (asked, given) => gate.edit(await situationOf(asked.session, undefined, LOOK), asked, given),
  });
  const { pass: _pass, giveBack: _giveBack, ask: _ask, compareStep: _compareStep, ...openApprovals } = approvals;
  const digest = createKeyedDigest(store.keys);
  const gate = createCallGate({ store, approvals, prepare: parts.prepare, digest });
  const removeOld = createRetention(store, parseRetention(parts.options?.retention), clock);
  const sessions = createSessions({
    store: store.sessions,
    situationOf,
    ledger,
    clock,
    sessionIdleMs,
    mostOpen: quotas.sessions,
  });

  return {
    ...sessions,
    approvals: openApprovals,
    planApprovals: createPlanApprovals({ situationOf, gate, approvals, digest, ledger }),

    async search(id, input, ask = {}) {
      const request = parseInput(searchInputSchema, input);
      const situation = await situationOf(id, ask.caller);
      const began = performance.now();
      const isEnded = situation.session.endedAt !== undefined;
      const output = isEnded
        ? refusedSearch(request.query, SESSION_ENDED)
        : await parts.search(request, sessionContext(situation, ask.signal));
      const names = output.matches.map(({ name }) => name);
      const about = {
        query: maskKeysIn(request.query),
        names,
        rankedBy: output.ranked_by,
        milliseconds: performance.now() - began,
      };
      await ledger.write({
        situation,
        audit: [
          {
            event: 'search',
            outcome: isEnded ? 'refused' : 'allowed',
            // Telemetry has the whole query, and is kept for less time.
            reason: maskKeysIn(request.query).slice(0, MAX_AUDITED_QUERY),
            code: output.error?.code,
          },
        ],
        telemetry: isEnded ? [] : [{ type: 'search', ...about }],
        isLook: names.length === 0,
      });
      return output;
    },

    async list(id, input = {}, ask = {}) {
      const request = parseInput(listInputSchema, input);
      const situation = await situationOf(id, ask.caller);
      const context = sessionContext(situation, ask.signal);
      const output = await handOut(request, situation, { ask: parts.handOut, context });
      const code = output.ok ? undefined : output.code;
      const outcome = output.ok ? 'allowed' : 'refused';
      await ledger.write({ situation, audit: [{ event: 'list', outcome, reason: request.mode, code }], isLook: true });
      return output;
    },

    async enable(id, input, ask = {}) {
      const request = parseInput(enableInputSchema, input);
      const situation = await situationOf(id, ask.caller);
      const { output, outcomes } = await enableTools(situation, request, store.sessions);
      await ledger.writeEnabling(situation, outcomes);
      return { ...output, visible_from: visibleFrom };
    },

    async wouldReject(id, input, ask = {}) {
      const { names } = parseInput(disableInputSchema, input);
      return findRefused(await situationOf(id, ask.caller, LOOK), names);
    },

    async disable(id, input, ask = {}) {
      const { names } = parseInput(disableInputSchema, input);
      const situation = await situationOf(id, ask.caller);
      const output = await disableTools(situation, names, store.sessions);
      await ledger.writeDisabling(situation, output);
      return output;
    },

    async call(id, input, ask = {}) {
      const request = parseInput(callInputSchema, input);
      const situation = await situationOf(id, ask.caller);
      const began = performance.now();
      const passed = await withSpan('winnow.decide', { 'gen_ai.tool.name': request.tool }, () =>
        gate.pass(situation, { ...request, sources: ask.sources, plan: ask.plan }),
      );
      await ledger.writeGate(situation, passed);
      if (!passed.ok) return passed.result;
      const { tool, decision, approval } = passed;
      // Exactly what was decided on runs, since no other code holds this copy.
      const given = structuredClone(passed.arguments);
      const { user } = situation.session;
      const { caller: _caller, sources: _sources, plan: _plan, ...listeners } = ask;
      const findRefusal = () => refusalOfNow(id, ask, passed);
      const decided = { risk: decision.risk, isApproved: approval !== undefined, findRefusal };
      const asked = { tool, arguments: { ...given }, user, session: id, ...listeners, decided };
      const result = await runCall(parts.execute, asked);
      if (!result.ok && isBeforeTool(result.code)) await passed.giveBack();
      await ledger.writeResult(situation, passed, { result, milliseconds: performance.now() - began });
      return result.ok ? { ...result, notes: [...passed.notes, ...result.notes] } : result;
    },

    async preview(id, input, ask = {}) {
      const request = parseInput(previewInputSchema, input);
      return toPreview(await gate.look(await situationOf(id, ask.caller, LOOK), request));
    },

    async requestApproval(id, input, ask = {}) {
      const { reason, ...request } = parseInput(requestApprovalInputSchema, input);
      const situation = await situationOf(id, ask.caller);
      const asked = await gate.ask(situation, { ...request, sources: ask.sources }, reason);
      if (!asked.result.ok) await ledger.writeAsking(situation, asked);
      return asked.result;
    },

    fingerprint: async (id, ask = {}) => fingerprintEnabled(await situationOf(id, ask.caller, LOOK)),
    onToolsChange: changes.listen,

    audit: async (query = {}) => ledger.list(parseInput(auditQuerySchema, query)),

    async reloadPolicy() {
      const reload = await parts.policy.reload();
      const policyVersion = reload.version;
      if (!reload.ok)
        await ledger.write({
          audit: [{ event: 'policy_kept', outcome: 'failed', reason: reload.reason, policyVersion }],
        });
      else if (reload.isChanged) {
        changes.notify();
        await ledger.write({ audit: [{ event: 'policy_loaded', outcome: 'allowed', policyVersion }] });
      }
      return reload;
    },

    async sweep() {
      await sessions.removeIdle();
      await approvals.sweep();
      await removeOld();
    },
  };

  async function refusalOfNow(id: string, { caller }: AskOptions, passed: Passed): Promise<CallFailure | undefined> {
    const session = await store.sessions.get(id);
    if (!session) return { ...SESSION_ENDED, ok: false };
    return gate.findRefusal(await situationOf(id, caller, LOOK), passed);
  }
}
