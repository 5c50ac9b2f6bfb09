/**
 * What must last, as small repositories. A fulfilled promise is kept: the write survives the process. What two
 * processes could race for is one atomic step, and says who won. Instants are UTC, ISO 8601 with milliseconds, which
 * sort as texts.
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
  /** Why it is enabled, for example `asked`. */
  readonly via: string;
  /** The last turn in which it is enabled. */
  readonly untilTurn: number;
  /** For one call only. */
  readonly once: boolean;
  /** Since it was enabled. */
  readonly calls: number;
}

/** What a session takes with it: what was still enabled in it, and its open approvals. */
export interface EndedWith {
  readonly ended: readonly EnablementRecord[];
  readonly approvals: readonly ApprovalRecord[];
}

export interface Enabling {
  readonly enablements: readonly Pick<EnablementRecord, 'tool' | 'via' | 'untilTurn' | 'once'>[];
  /** Most tools that may be enabled in the session at a time; what is over it is left out, from the end. */
  readonly limit: number;
  readonly at: string;
}

export interface Sessions {
  /** @param mostOpen of the session's user; false where so many are open already. Default: no limit. */
  create(session: SessionRecord, mostOpen?: number): Promise<boolean>;
  get(id: string): Promise<SessionRecord | undefined>;
  /** Newest first. */
  list(query: { user?: string | undefined; limit: number }): Promise<SessionRecord[]>;
  /** Counts one turn on and takes away what was enabled only until now. Undefined: there is no such open session. */
  beginTurn(id: string, at: string): Promise<{ turn: number; ended: EnablementRecord[] } | undefined>;
  touch(id: string, at: string): Promise<void>;
  /** Also takes its enablements away and expires its open approvals. Undefined: it was not open. */
  end(id: string, at: string): Promise<EndedWith | undefined>;
  /** Removes what was not active since `before`, up to 500 at a time, with all that belongs to it but its audit. */
  removeIdle(before: string): Promise<(EndedWith & { readonly session: SessionRecord })[]>;
  /** Those of the current turn, in order of name. */
  enablements(id: string): Promise<EnablementRecord[]>;
  /**
   * Adds and prolongs, never shortens; what was there as `once` can become lasting. Undefined: the session is not open.
   * @returns the names that are over the limit
   */
  enable(id: string, enabling: Enabling): Promise<{ overLimit: string[] } | undefined>;
  /** Returns what was taken away. */
  disable(id: string, tools: readonly string[]): Promise<EnablementRecord[]>;
  /** Counts a call of an enabled tool; false when it is not enabled now, so that `once` holds for one call only. */
  countCall(id: string, tool: string): Promise<boolean>;
  /** The counted call was none. */
  uncountCall(id: string, tool: string): Promise<void>;
}

type ApprovalState = Approval['state'];

/** `last` is for who decides, and `plan` is checked when it is read. */
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

/** What is written to the audit together with a change, or not at all. */
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
  /** The last one of a tool and user by when it was granted, also where it has been used or is over since. */
  lastGranted(of: Pick<ApprovalRecord, 'tool' | 'user'>): Promise<ApprovalRecord | undefined>;
  /** False when it is no longer pending, or expired. */
  decide(id: string, decision: ApprovalDecision, toAudit?: ToAudit): Promise<boolean>;
  /** Uses a grant; one for a single call is then used up. False when somebody else was faster, or it expired. */
  use(id: string, at: string): Promise<boolean>;
  /** The call that used it up was none: it may be used again, within its time. */
  giveBack(id: string): Promise<void>;
  /** Marks what is over time; returns it. */
  expire(at: string, toAudit?: ToAudit): Promise<ApprovalRecord[]>;
}

export type AuditRecord = Omit<AuditEntry, 'id'>;

export interface AuditQuery extends Texts<'session' | 'user' | 'tool' | 'event' | 'outcome' | 'since'> {
  limit: number;
}

/** The time, type and owner are columns to ask by; the whole event is in `content`. */
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
   * A place, of which no later one was seen. Within one reading alone: in PostgreSQL an event that is written while
   * somebody reads may come behind with an earlier place, and is met by the next reading from the start.
   */
  after?: number | undefined;
  limit: number;
}

/** A call that succeeded; of those that look alike the last one is kept. */
export interface CallRecord {
  readonly session: string;
  /** Which tool: its name and what its source and definition are; see `callKey`. */
  readonly tool: string;
  readonly turn: number;
  readonly at: string;
  /** Name of an argument or of a field of the result -> keyed digests of its values. */
  readonly values: Readonly<Record<string, readonly string[]>>;
}

export interface Journal {
  /** All or nothing. */
  append(entries: {
    audit?: readonly AuditRecord[];
    telemetry?: readonly TelemetryRecord[];
    calls?: readonly CallRecord[];
  }): Promise<void>;
  /** Newest first. */
  audit(query: AuditQuery): Promise<(AuditRecord & { id: string })[]>;
  /** Oldest first, with the place to go on from. */
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
  /** Step id -> what is known of it. */
  readonly steps: Readonly<Record<string, unknown>>;
  readonly createdAt: string;
  readonly updatedAt: string;
  /** Until then a process has it; absent: none ever had. */
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
  /** With the plan, where it was written anew. */
  setState(id: string, change: { state: string; plan?: unknown; at: string }): Promise<void>;
  /** Takes the run for one process until an instant; false while another one has it. */
  claim(id: string, lease: { owner: string; at: string; until: string }): Promise<boolean>;
}

/** One for each level, subject, kind and key. */
export type WeightRecord = LearntEntry;

export type WeightQuery = Texts<'level' | 'subject' | 'kind' | 'key' | 'state'>;

export interface Weights {
  /** All or nothing; what is there is replaced. */
  put(weights: readonly WeightRecord[]): Promise<void>;
  /** In order of level, subject, kind and key. */
  list(query?: WeightQuery): Promise<WeightRecord[]>;
  /** Returns how many were removed. */
  remove(query: WeightQuery): Promise<number>;
}

/** What goes with age. */
export const PRUNED_KINDS = ['audit', 'telemetry', 'approvals', 'runs', 'answers'] as const;
export type PrunedKind = (typeof PRUNED_KINDS)[number];

export interface Store {
  readonly sessions: Sessions;
  readonly approvals: Approvals;
  readonly journal: Journal;
  readonly privateTools: Documents;
  readonly rules: Documents;
  readonly snapshots: Documents;
  /** Tools as they were accepted; by origin and name. */
  readonly definitions: Documents;
  /** That users keep, by their name. */
  readonly plans: Documents;
  /** Made by the servers for themselves; shown to nobody. */
  readonly keys: Documents;
  readonly weights: Weights;
  readonly planRuns: PlanRuns;
  readonly answers: Answers;
  /**
   * Removes some of what is older: approvals by their end, plan runs by when they last did something, all else by when
   * it was written. Returns how many; 0: none is left.
   */
  prune(kind: PrunedKind, before: string): Promise<number>;
  /** Writes a little, so that a full disk or a lost right is seen. @throws WinnowError `store_failed` */
  probe(): Promise<void>;
  /** Idempotent. */
  close(): Promise<void>;
}
