/** What is opened once for all who ask for it; where that failed, the next who asks opens it anew. */

export interface Opening<T> {
  /** @throws what opening it throws */
  get(): Promise<T>;
  /** Undefined while nobody has asked, or since it failed or was forgotten. */
  peek(): Promise<T> | undefined;
  /** The next who asks opens another one. */
  forget(): void;
}

export function createOpening<T>(open: () => Promise<T>): Opening<T> {
  let opening: Promise<T> | undefined;
  return {
    get() {
      if (opening) return opening;
      const mine = open();
      opening = mine;
      mine.catch(() => {
        // Another one may have been opened in its place meanwhile.
        if (opening === mine) opening = undefined;
      });
      return mine;
    },
    peek: () => opening,
    forget() {
      opening = undefined;
    },
  };
}
