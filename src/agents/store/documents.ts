/** Named JSON values of an owner: private tools and plans of a user, rules, snapshots of an index. */
export interface DocumentRecord {
  readonly owner: string;
  readonly name: string;
  readonly content: unknown;
  readonly updatedAt: string;
}

export interface Documents {
  put(document: DocumentRecord): Promise<void>;
  /** Compare and set: false where the stored one is not `before`. `before` undefined: none may exist. */
  replace(document: DocumentRecord, before: DocumentRecord | undefined): Promise<boolean>;
  get(owner: string, name: string): Promise<DocumentRecord | undefined>;
  /** Sorted by owner and name. Default: of all owners. */
  list(owner?: string): Promise<DocumentRecord[]>;
  /** False when there was none. */
  remove(owner: string, name: string): Promise<boolean>;
}
