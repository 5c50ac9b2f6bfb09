/**
 * The persistent state, as small repositories. Fulfilled writes are durable. Operations that processes can race for are
 * atomic and return who won. Instants are UTC, ISO 8601 with milliseconds, which sort as strings.
 */
import type { LearntEntry } from '../adaptation/entry.js';
import type { SessionView } from '../contracts.js';
import type { Approval, AuditEntry } from '../records.js';
import type { Answers } from './answers.js';
import type { Documents } from './documents.js';

type Texts<Names extends string> = { readonly [Name in Names]?: string | undefined };

export type SessionRecord = Omit<SessionView, 'enabled'>;

export interface EnablementRecord {
  readonly tool: string;
  /** How it was enabled, for example `asked`. */
  readonly via: string;
  /** The last turn in which it is enabled. */
  readonly untilTurn: number;
  /** For one call only. */
  readonly once: boolean;
  /** Since it was enabled. */
  readonly calls: number;
}

/** What ends with a session: its enablements and open approvals. */
export interface EndedWith {
  readonly ended: readonly EnablementRecord[];
  readonly approvals: readonly ApprovalRecord[];
}

export interface Enabling {
  readonly enablements: readonly Pick<EnablementRecord, 'tool' | 'via' | 'untilTurn' | 'once'>[];
  /** Maximum of enabled tools in the session; excess ones are dropped from the end. */
  readonly limit: number;
  readonly at: string;
}

export interface Sessions {
  /** @param mostOpen limit of the user's open sessions; false where it is reached. Default: no limit */
  create(session: SessionRecord, mostOpen?: number): Promise<boolean>;
  get(id: string): Promise<SessionRecord | undefined>;
  /** Newest first. */
  list(query: { user?: string | undefined; limit: number }): Promise<SessionRecord[]>;
  /** Begins the next turn and ends expired enablements. Undefined: there is no such open session. */
  beginTurn(id: string, at: string): Promise<{ turn: number; ended: EnablementRecord[] } | undefined>;
  touch(id: string, at: string): Promise<void>;
  /** Also removes its enablements and expires its open approvals. Undefined: it was not open. */
  end(id: string, at: string): Promise<EndedWith | undefined>;
  /** Removes sessions idle since `before`, up to 500 at a time, with all their records except the audit. */
  removeIdle(before: string): Promise<(EndedWith & { readonly session: SessionRecord })[]>;
  /** Enablements of the current turn, sorted by name. */
  enablements(id: string): Promise<EnablementRecord[]>;
  /**
   * Adds and prolongs, never shortens; `once` can become lasting. Undefined: the session is not open.
   * @returns the names that are over the limit
   */
  enable(id: string, enabling: Enabling): Promise<{ overLimit: string[] } | undefined>;
  /** Returns the removed enablements. */
  disable(id: string, tools: readonly string[]): Promise<EnablementRecord[]>;
  /** Counts a call of an enabled tool; false when it is not enabled, which limits `once` to one call. */
  countCall(id: string, tool: string): Promise<boolean>;
  /** Undoes the count of a call that was not made. */
  uncountCall(id: string, tool: string): Promise<void>;
}

type ApprovalState = Approval['state'];

/** Without `last`, which is computed for approvers; `plan` is validated when it is read. */
export interface ApprovalRecord extends Omit<Approval, 'last' | 'plan' | 'runs'> {
  readonly plan?: unknown;
  readonly runs?: { readonly where: string; readonly risk: string } | undefined;
}

export interface GrantedArguments {
  readonly arguments: unknown;
  readonly argumentsHash: string;
}

export interface ApprovalQuery extends Texts<'session' | 'user' | 'tool' | 'since'> {
  state?: ApprovalState | undefined;
  limit: number;
}

export interface ApprovalDecision extends Pick<ApprovalRecord, 'grant' | 'granted' | 'expiresAt' | 'reason'> {
  readonly state: 'granted' | 'refused';
  readonly decidedBy: string;
  readonly decidedAt: string;
}

/** Audit entries that are written in one transaction with the change. */
export type ToAudit = (approval: ApprovalRecord) => readonly AuditRecord[];

export interface Approvals {
  /**
   * Keeps the new approval, or returns the open one (pending, granted or refused, not expired at `requestedAt`) of the
   * same session, tool, arguments and policy version: granted with these arguments first, granted with others last.
   * Undefined: none is open, and `mostPending` of the user's wait already. Default: no limit.
   */
  request(approval: ApprovalRecord, mostPending?: number, toAudit?: ToAudit): Promise<ApprovalRecord | undefined>;
  get(id: string): Promise<ApprovalRecord | undefined>;
  /** Newest first. */
  list(query: ApprovalQuery): Promise<ApprovalRecord[]>;
  /** The most recently granted one of a tool and user, even if used or expired since. */
  lastGranted(of: Pick<ApprovalRecord, 'tool' | 'user'>): Promise<ApprovalRecord | undefined>;
  /** False when it is no longer pending, or expired. */
  decide(id: string, decision: ApprovalDecision, toAudit?: ToAudit): Promise<boolean>;
  /** Uses a grant, and uses up a single-call one. False when another call was faster, or it expired. */
  use(id: string, at: string): Promise<boolean>;
  /** Undoes a use whose call was not made; it stays usable until it expires. */
  giveBack(id: string): Promise<void>;
  /** Marks expired approvals and returns them. */
  expire(at: string, toAudit?: ToAudit): Promise<ApprovalRecord[]>;
}

export type AuditRecord = Omit<AuditEntry, 'id'>;

export interface AuditQuery extends Texts<'session' | 'user' | 'tool' | 'event' | 'outcome' | 'since'> {
  limit: number;
}

/** Time, type and owner are columns for queries; `content` has the whole event. */
export interface TelemetryRecord {
  readonly at: string;
  readonly type: string;
  readonly session: string;
  readonly user?: string | undefined;
  readonly project?: string | undefined;
  readonly tool?: string | undefined;
  readonly content: unknown;
}

export interface TelemetryQuery extends Texts<'type' | 'session' | 'user' | 'project' | 'tool' | 'since' | 'until'> {
  /**
   * Continues after this place. Valid within one pass only: in PostgreSQL, a concurrent write may later appear with an
   * earlier place, which only a new pass from the start sees.
   */
  after?: number | undefined;
  limit: number;
}

/** A successful call; of equal ones only the last is stored. */
export interface CallRecord {
  readonly session: string;
  /** Identifies the tool by name, source and definition; see `callKey`. */
  readonly tool: string;
  readonly turn: number;
  readonly at: string;
  /** Name of an argument or of a field of the result -> keyed digests of its values. */
  readonly values: Readonly<Record<string, readonly string[]>>;
}

export interface Journal {
  /** Atomic. */
  append(entries: {
    audit?: readonly AuditRecord[];
    telemetry?: readonly TelemetryRecord[];
    calls?: readonly CallRecord[];
  }): Promise<void>;
  /** Newest first. */
  audit(query: AuditQuery): Promise<(AuditRecord & { id: string })[]>;
  /** Oldest first, with the place to continue from. */
  telemetry(query: TelemetryQuery): Promise<(TelemetryRecord & { place: number })[]>;
  /** Newest first, at most 10,000 a tool. */
  calls(session: string, tools: readonly string[]): Promise<CallRecord[]>;
}

export interface PlanRunRecord {
  readonly id: string;
  readonly session?: string | undefined;
  readonly user?: string | undefined;
  readonly plan: unknown;
  readonly state: string;
  /** Step id -> its state. */
  readonly steps: Readonly<Record<string, unknown>>;
  readonly createdAt: string;
  readonly updatedAt: string;
  /** End of the lease of the process that runs it; absent: none ever had one. */
  readonly leaseUntil?: string | undefined;
}

export interface PlanRunQuery extends Texts<'state' | 'user' | 'session' | 'since'> {
  limit: number;
}

export interface PlanRuns {
  create(run: PlanRunRecord): Promise<void>;
  get(id: string): Promise<PlanRunRecord | undefined>;
  /** Newest first. Results may be large, so the steps are not read. */
  list(query: PlanRunQuery): Promise<Omit<PlanRunRecord, 'steps'>[]>;
  setStep(id: string, step: { id: string; state: unknown; at: string }): Promise<void>;
  /** Includes the plan where it was rewritten. */
  setState(id: string, change: { state: string; plan?: unknown; at: string }): Promise<void>;
  /** Leases the run to one process until an instant; false while another one has it. */
  claim(id: string, lease: { owner: string; at: string; until: string }): Promise<boolean>;
}

/** Unique per level, subject, kind and key. */
export type WeightRecord = LearntEntry;

export type WeightQuery = Texts<'level' | 'subject' | 'kind' | 'key' | 'state'>;

export interface Weights {
  /** Atomic; replaces existing ones. */
  put(weights: readonly WeightRecord[]): Promise<void>;
  /** Sorted by level, subject, kind and key. */
  list(query?: WeightQuery): Promise<WeightRecord[]>;
  /** Returns how many were removed. */
  remove(query: WeightQuery): Promise<number>;
}

/** Kinds of records that retention removes. */
export const PRUNED_KINDS = ['audit', 'telemetry', 'approvals', 'runs', 'answers'] as const;
export type PrunedKind = (typeof PRUNED_KINDS)[number];

export interface Store {
  readonly sessions: Sessions;
  readonly approvals: Approvals;
  readonly journal: Journal;
  readonly privateTools: Documents;
  readonly rules: Documents;
  readonly snapshots: Documents;
  /** Accepted definitions of tools, by origin and name. */
  readonly definitions: Documents;
  /** Users' kept plans, by name. */
  readonly plans: Documents;
  /** Secret keys that the servers generate; never shown. */
  readonly keys: Documents;
  readonly weights: Weights;
  readonly planRuns: PlanRuns;
  readonly answers: Answers;
  /**
   * Removes a batch of older records: approvals by expiry, plan runs by last activity, all else by creation. Returns
   * how many; 0: none is left.
   */
  prune(kind: PrunedKind, before: string): Promise<number>;
  /** Makes a test write, which detects a full disk or missing rights. @throws WinnowError `store_failed` */
  probe(): Promise<void>;
  /** Idempotent. */
  close(): Promise<void>;
}
