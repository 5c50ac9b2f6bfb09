/** Results that are kept: of an object as long as it lives, the latest of many, or of work that is begun once for all who ask. */

/** What is made of an object, such as a tool or a view, once. */
export function oncePer<Key extends object, Value extends NonNullable<unknown>>(
  make: (key: Key) => Value,
): (key: Key) => Value {
  const kept = new WeakMap<Key, Value>();
  return (key) => {
    const value = kept.get(key) ?? make(key);
    kept.set(key, value);
    return value;
  };
}

/** Beyond so many entries, the one that was set longest ago is gone. */
export function keepLatest<Key, Value>(kept: Map<Key, Value>, [key, value]: readonly [Key, Value], most: number): void {
  kept.delete(key);
  kept.set(key, value);
  const oldest = kept.keys().next();
  if (kept.size > most && !oldest.done) kept.delete(oldest.value);
}

export interface Opening<T> {
  /** @throws what opening it throws */
  get(): Promise<T>;
  peek(): Promise<T> | undefined;
  forget(): void;
}

/** Opens something once for all who ask; after a failure the next who asks opens it again. */
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
