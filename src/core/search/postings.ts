/**
 * The inverted index in flat arrays: term -> documents, the strength of the term there, the fields it stands in.
 * Nothing in it depends on a query or a caller, nor a document's numbers on another document.
 */
export interface Postings {
  /** Sorted; the place of a term is its number. */
  readonly terms: readonly string[];
  /** Where the entries of a term begin; one more than terms. */
  readonly starts: Uint32Array;
  /** Documents of each term, ascending. */
  readonly documents: Uint32Array;
  /** Between 0 and 1: how much the document is about the term. */
  readonly strengths: Float32Array;
  /** Bit n is set when the term stands in field n. */
  readonly fields: Uint8Array;
}

/** The first term that is not smaller. */
export function lowerBound(terms: readonly string[], term: string): number {
  let low = 0;
  let high = terms.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((terms[middle] ?? '') < term) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The first place from `low` on, before `high`, whose document is not smaller; `high` where there is none. */
export function lowerBoundOf(documents: Uint32Array, document: number, low: number, high: number): number {
  let [from, to] = [low, high];
  while (from < to) {
    const middle = (from + to) >>> 1;
    if ((documents[middle] ?? 0) < document) from = middle + 1;
    else to = middle;
  }
  return from;
}

/** The place of a document among the entries of a term, or -1. */
export function entryOf({ starts, documents }: Postings, term: number, document: number): number {
  const end = starts[term + 1] ?? 0;
  const place = lowerBoundOf(documents, document, starts[term] ?? end, end);
  return place < end && documents[place] === document ? place : -1;
}
