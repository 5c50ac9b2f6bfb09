/** Records and queries of the store. Instants are UTC, ISO 8601 with milliseconds, which sort as strings. */
import type { LearntEntry } from '../adaptation/entry.js';
import type { SessionView } from '../contracts.js';
import type { Approval, AuditEntry } from '../records.js';

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
  /** Goes on behind the approval of this id. */
  after?: string | undefined;
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

export interface PlanRunRecord {
  readonly id: string;
  readonly session?: string | undefined;
  readonly user?: string | undefined;
  readonly plan: unknown;
  /** What lists show of the plan, which they do not read. Absent in rows of an earlier version of Winnow. */
  readonly summary?: unknown;
  readonly state: string;
  /** Step id -> its state. */
  readonly steps: Readonly<Record<string, unknown>>;
  readonly createdAt: string;
  readonly updatedAt: string;
  /** End of the lease of the process that runs it; absent: none ever had one. */
  readonly leaseUntil?: string | undefined;
}

export type ListedRunRecord = Omit<PlanRunRecord, 'plan' | 'steps'>;

/** A run, for the process that leases it. */
export interface LeasedRun {
  readonly id: string;
  /** The process, by a name that no other has. */
  readonly owner: string;
}

export interface PlanRunQuery extends Texts<'state' | 'user' | 'session' | 'since'> {
  limit: number;
}

/** Unique per level, subject, kind and key. */
export type WeightRecord = LearntEntry;

export type WeightQuery = Texts<'level' | 'subject' | 'kind' | 'key' | 'state'>;

/** Kinds of records that retention removes. */
export const PRUNED_KINDS = ['audit', 'telemetry', 'approvals', 'runs', 'answers'] as const;
export type PrunedKind = (typeof PRUNED_KINDS)[number];

/** Named JSON values of an owner: private tools and plans of a user, rules, snapshots of an index. */
export interface DocumentRecord {
  readonly owner: string;
  readonly name: string;
  readonly content: unknown;
  /** What lists show of the content, which they do not read. Written with it; read by `summaries` alone. */
  readonly summary?: unknown;
  readonly updatedAt: string;
}

/** An answer under its caller's idempotency key, so that all servers of a store process a request once. */
export interface AnswerRecord {
  /** The caller; empty for the operator's own program. */
  readonly owner: string;
  /** As the caller chose it. */
  readonly key: string;
  /** Hash of all that identifies the request. */
  readonly requestHash: string;
  readonly createdAt: string;
  /** A server works on it at least until then. */
  readonly until: string;
  /** Absent: the work has not ended, or its outcome is unknown. */
  readonly content?: unknown;
}
