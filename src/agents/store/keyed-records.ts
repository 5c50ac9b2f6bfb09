/** What is kept under names and keys: documents, and what was learnt. */

/** Named JSON values of an owner: private tools of a user, rules, snapshots of an index. */
export interface DocumentRecord {
  readonly owner: string;
  readonly name: string;
  readonly content: unknown;
  readonly updatedAt: string;
}

export interface Documents {
  put(document: DocumentRecord): Promise<void>;
  /** Keeps what is there under this owner and name. */
  add(document: DocumentRecord): Promise<void>;
  get(owner: string, name: string): Promise<DocumentRecord | undefined>;
  /** In order of owner and name. Default: of all owners. */
  list(owner?: string): Promise<DocumentRecord[]>;
  /** False when there was none. */
  remove(owner: string, name: string): Promise<boolean>;
}

/** Something learnt from use. One entry for each level, subject, kind and key. */
export interface WeightRecord {
  /** For whom it holds: `person`, `project` or `all`. */
  readonly level: string;
  /** The person or project; empty for all. */
  readonly subject: string;
  /** For example `weight`, `synonym`, `always_on`. */
  readonly kind: string;
  readonly key: string;
  readonly value: number;
  /** How many observations stand behind it. */
  readonly evidence: number;
  /** For example `proposed`, `active`, `reverted`. */
  readonly state: string;
  /** What explains it. */
  readonly details: unknown;
  readonly updatedAt: string;
}

export interface WeightQuery {
  level?: string | undefined;
  subject?: string | undefined;
  kind?: string | undefined;
  key?: string | undefined;
  state?: string | undefined;
}

export interface Weights {
  /** All or nothing; what is there is replaced. */
  put(weights: readonly WeightRecord[]): Promise<void>;
  /** In order of level, subject, kind and key. */
  list(query?: WeightQuery): Promise<WeightRecord[]>;
  /** Returns how many were removed. */
  remove(query: WeightQuery): Promise<number>;
}
