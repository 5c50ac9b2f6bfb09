/** Answers stored under callers' idempotency keys, so that all servers of a store process a request once. */

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

type Place = Pick<AnswerRecord, 'owner' | 'key'>;

export interface Answers {
  /**
   * Claims the key for one server. Returns `taken` on success, `full` where the owner's answers have `mostBytes`
   * already, else the existing record.
   */
  claim(answer: AnswerRecord, mostBytes: number): Promise<'taken' | 'full' | AnswerRecord>;
  /** Renews or ends the server's lease. */
  setUntil(place: Place, until: string): Promise<void>;
  keep(place: Place, content: unknown): Promise<void>;
  /** Releases the key of a request that had no effect. */
  forget(place: Place): Promise<void>;
}
