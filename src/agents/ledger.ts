/** Writes what happened in a session: audit entries and telemetry events, in one step. */
import { withoutUndefined } from '../core/catalog/schema/json.js';
import { approvalEntry } from './approvals/approvals.js';
import { sourcesForAudit } from './argument-sources.js';
import type { Asked, Passed, Stopped } from './calls/call-gate.js';
import type { CallResult, DisableOutput } from './contracts.js';
import type { Decision } from './policy/decide.js';
import type { AuditEntry, BareEntry, TelemetryEvent } from './records.js';
import { waitsForApproval } from './sandbox/failure.js';
import type { NameOutcome } from './sessions/enabling.js';
import type { Situation } from './sessions/situation.js';
import type { Journal } from './store/sql/journal.js';
import type { AuditRecord, CallRecord, EnablementRecord, EndedWith } from './store/store.js';

type About = 'at' | 'session' | 'user' | 'project' | 'turn';
type WithoutAbout<Event> = Event extends unknown ? Omit<Event, About> : never;
/** The ledger adds session and turn. */
type BareEvent = WithoutAbout<TelemetryEvent>;

interface Entries {
  situation?: (Pick<Situation, 'session'> & Partial<Pick<Situation, 'policy'>>) | undefined;
  audit?: readonly BareEntry[];
  telemetry?: readonly BareEvent[];
  call?: Pick<CallRecord, 'tool' | 'values'> | undefined;
  /** The request only looked, so a session start that was held back stays unwritten. Default: false. */
  isLook?: boolean;
}

interface EndedCall {
  result: CallResult;
  milliseconds: number;
}

interface LedgerParts {
  journal: Journal;
  clock: () => Date;
  onEvent?: ((event: TelemetryEvent) => void) | undefined;
}

export type Ledger = ReturnType<typeof createLedger>;

export function createLedger({ journal, clock, onEvent }: LedgerParts) {
  /** Session -> its start, which is not written yet. */
  const held = new Map<string, BareEntry>();

  function takeHeld(id: string | undefined): BareEntry[] {
    const begun = id === undefined ? undefined : held.get(id);
    if (!begun || id === undefined) return [];
    held.delete(id);
    return [begun];
  }

  async function write({ situation, audit: given = [], telemetry = [], call, isLook = false }: Entries): Promise<void> {
    const at = clock().toISOString();
    const session = situation?.session;
    const owner = session && ownerOf(session);
    const begun = isLook ? [] : takeHeld(session?.id);
    const audit = [...begun, ...given];
    const events = session ? telemetry.map((event): TelemetryEvent => ({ ...event, ...aboutOf(session), at })) : [];
    await journal.append({
      audit: audit.map((entry) => ({ policyVersion: situation?.policy?.version, ...owner, ...bounded(entry), at })),
      telemetry: events.map(({ type, ...event }) => ({
        at,
        type,
        session: event.session,
        user: event.user,
        project: event.project,
        tool: 'tool' in event ? event.tool : undefined,
        content: { type, ...event },
      })),
      calls: call && session ? [{ ...call, at, session: session.id, turn: session.turn }] : [],
    });
    for (const event of events) onEvent?.(event);
  }

  return {
    write,

    /** An entry for a caller that writes it with its own change; a held session start comes first. */
    toAudit(entry: BareEntry): AuditRecord[] {
      const at = clock().toISOString();
      return [...takeHeld(entry.session), bounded(entry)].map((one) => ({ ...one, at }));
    },

    /** @param isHeld writes it with the first entry that is more than a look. Default: at once */
    async writeBegin(situation: Situation, isHeld = false): Promise<void> {
      const begun: BareEntry = { event: 'session_created', outcome: 'allowed' };
      if (!isHeld) return write({ situation, audit: [begun] });
      const { session, policy } = situation;
      held.set(session.id, { policyVersion: policy.version, ...ownerOf(session), ...begun });
    },

    /** Writes nothing where the session start is still held back. */
    async writeEnd(
      situation: NonNullable<Entries['situation']>,
      { ended, approvals }: EndedWith,
      reason?: string,
    ): Promise<void> {
      if (takeHeld(situation.session.id).length > 0) return;
      const over = approvals.map((approval) => approvalEntry(approval, 'approval_expired', 'denied'));
      const end: BareEntry = { event: 'session_ended', outcome: 'allowed', reason };
      await write({ situation, audit: [...over, end], telemetry: ended.map(expiredEvent) });
    },

    writeEnabling: (situation: Situation, outcomes: readonly NameOutcome[]) =>
      write({
        situation,
        audit: outcomes.map(({ name, decision, refusal }) => entryOf('enable', { name, decision, refusal })),
        telemetry: outcomes
          .filter(({ refusal }) => !refusal)
          .map(({ name, via }) => ({ type: 'enable', tool: name, via })),
      }),

    writeDisabling: (situation: Situation, { disabled, rejected }: DisableOutput) =>
      write({
        situation,
        audit: [
          ...disabled.map((tool) => ({ event: 'disable' as const, outcome: 'allowed' as const, tool })),
          ...rejected.map(({ name, code, reason }) => {
            return { event: 'disable' as const, outcome: 'refused' as const, tool: name, code, reason };
          }),
        ],
        telemetry: disabled.map((tool) => ({ type: 'disable', tool })),
      }),

    async writeGate(situation: Situation, judged: Passed | Stopped): Promise<void> {
      const { name, argumentsHash, approval } = judged;
      const refusal = judged.ok ? undefined : judged.result;
      // What runs, or waits for an approval; a refused call had no effect.
      const sources = !refusal || waitsForApproval(refusal.code) ? judged.sources : undefined;
      const entry = { ...entryOf('call', { ...judged, refusal }), argumentsHash, sources, approval };
      // Users see their own telemetry: a denied tool must look there like one that does not exist.
      const isShown = situation.view.byName.has(name) && refusal?.code !== 'unknown_tool';
      // Before the tool runs: a crash meanwhile must not hide that it began.
      const telemetry: BareEvent[] =
        refusal && isShown ? [{ type: 'call', tool: name, ok: false, code: refusal.code, milliseconds: 0 }] : [];
      await write({ situation, audit: [entry], telemetry });
    },

    /** Records an approval request that was refused; one that succeeded is recorded with the approval. */
    async writeAsking(situation: Situation, asked: Asked): Promise<void> {
      const { argumentsHash, sources, result } = asked;
      const refusal = result.ok ? undefined : result;
      const entry = { ...entryOf('approval_requested', { ...asked, refusal }), argumentsHash, sources };
      await write({ situation, audit: [entry] });
    },

    async writeResult(situation: Situation, passed: Passed, { result, milliseconds }: EndedCall): Promise<void> {
      const { name, argumentsHash, sources, mask, toKeep } = passed;
      const code = result.ok ? undefined : result.code;
      const about = { tool: name, argumentsHash, sources };
      const failed: BareEntry[] = result.ok
        ? []
        : [{ event: 'call', outcome: 'failed', code, reason: mask(result.reason), ...about }];
      await write({
        situation,
        audit: failed,
        telemetry: [{ type: 'call', tool: name, ok: result.ok, ...(code ? { code } : {}), milliseconds }],
        call: result.ok ? toKeep(result.output) : undefined,
      });
    },

    list: journal.audit,
  };
}

function bounded({ sources, ...entry }: BareEntry): BareEntry {
  return sources ? { ...entry, sources: sourcesForAudit(sources) } : entry;
}

export function expiredEvent({ tool, calls }: EnablementRecord): BareEvent {
  return { type: 'expire', tool, calls };
}

interface Told {
  readonly name: string;
  readonly decision: Decision;
  readonly refusal?: { readonly code: string; readonly reason: string } | undefined;
  /** Hides what the reason may quote. Default: nothing */
  readonly mask?: ((text: string) => string) | undefined;
}

/** The audit has the policy's own decision, even where the caller sees less. */
function entryOf(
  event: AuditEntry['event'],
  { name: tool, decision, refusal, mask = (text) => text }: Told,
): BareEntry {
  const { warned } = decision;
  const entry = (outcome: AuditEntry['outcome'], { code, reason }: { code: string; reason: string }): BareEntry => {
    return { event, outcome, tool, code, reason: mask(reason) };
  };
  if (!refusal) return warned ? entry('warned', warned) : { event, outcome: 'allowed', tool };
  if (decision.decision === 'deny') return entry(outcomeOf(decision), decision);
  return entry(waitsForApproval(refusal.code) ? 'needs_approval' : 'refused', refusal);
}

function outcomeOf({ code }: Decision): AuditEntry['outcome'] {
  if (code === 'unknown_tool') return 'unknown';
  return code === 'denied' || code === 'not_allowed' || code === 'too_risky' ? 'denied' : 'refused';
}

function ownerOf({ id, user, turn }: Situation['session']): Pick<BareEntry, 'session' | 'user' | 'turn'> {
  return { session: id, user, turn };
}

function aboutOf(session: Situation['session']): Pick<TelemetryEvent, Exclude<About, 'at'>> {
  const { id, user, project, turn } = session;
  return withoutUndefined({ session: id, turn, user, project });
}

// Entries of the audit that belong to no session: what operators and users changed.

export type WriteAudit = (entry: BareEntry) => Promise<void>;

/** @returns a function that throws WinnowError `store_failed` */
export function createAuditWriter(journal: Journal, clock = () => new Date()): WriteAudit {
  return (entry) => journal.append({ audit: [{ ...entry, at: clock().toISOString() }] });
}
