/** The working space of one search over a segment. */

/** Numbers of documents, and which of them are not zero: so that a search never looks at all documents. */
export interface Sums {
  readonly values: Float32Array;
  /** Its first `count` places are the documents that were raised. */
  readonly touched: Uint32Array;
  count: number;
}

export interface Scratch {
  readonly total: Sums;
  readonly unit: Sums;
  readonly phrase: Sums;
  /** How many words of the phrase a document has. */
  readonly found: Uint8Array;
  /** The place of the reading by which a document was raised most; means nothing where it was not. */
  readonly best: Uint8Array;
}
