/** The best few of many, kept in order while the many pass by; equals keep the order in which they stand in the catalogue. */
export interface Best<T> {
  /** Whether something of this score may still be among them. */
  takes(score: number): boolean;
  add(score: number, item: T): void;
  /** Best first. */
  items(): { score: number; item: T }[];
}

/** @param isBefore tells between equals. */
export function keepBest<T>(limit: number, isBefore: (one: T, other: T) => boolean): Best<T> {
  const kept: { score: number; item: T }[] = [];
  return {
    takes: (score) => limit > 0 && (kept.length < limit || score >= (kept[limit - 1]?.score ?? 0)),
    add(score, item) {
      let place = kept.length;
      for (; place > 0; place--) {
        const other = kept[place - 1];
        if (!other || other.score > score || (other.score === score && isBefore(other.item, item))) break;
      }
      kept.splice(place, 0, { score, item });
      if (kept.length > limit) kept.pop();
    },
    items: () => [...kept],
  };
}
