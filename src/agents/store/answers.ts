/** Answers that are kept under keys of callers, so that several servers of one store do a request once. */

export interface AnswerRecord {
  /** Who asks; empty for the operator's own program. */
  readonly owner: string;
  /** As the caller chose it. */
  readonly key: string;
  /** Of all that makes a request the same one. */
  readonly requestHash: string;
  readonly createdAt: string;
  /** Some server works on it until then at least. */
  readonly until: string;
  /** Absent: the work has not ended, or nobody knows what it came to. */
  readonly content?: unknown;
}

type Place = Pick<AnswerRecord, 'owner' | 'key'>;

export interface Answers {
  /**
   * Takes the place for one server. Returns `taken` where it is this one, `full` where the owner's answers have
   * `mostBytes` already, else what is there.
   */
  claim(answer: AnswerRecord, mostBytes: number): Promise<'taken' | 'full' | AnswerRecord>;
  /** Says that a server works on it until then, or no longer. */
  setUntil(place: Place, until: string): Promise<void>;
  keep(place: Place, content: unknown): Promise<void>;
  /** Nothing has come of it: its key is free. */
  forget(place: Place): Promise<void>;
}
