/** Caches: a value per object, the latest entries of a map, and one shared result of an asynchronous opening. */

/** Computes a value once per object, such as a tool or a view, and keeps it as long as the object lives. */
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

/** Sets an entry; beyond `most` entries it deletes the one that was set longest ago. */
export function keepLatest<Key, Value>(kept: Map<Key, Value>, [key, value]: readonly [Key, Value], most: number): void {
  kept.delete(key);
  kept.set(key, value);
  const oldest = kept.keys().next();
  if (kept.size > most && !oldest.done) kept.delete(oldest.value);
}

interface Opening<T> {
  /** @throws what `open` throws */
  get(): Promise<T>;
  peek(): Promise<T> | undefined;
  forget(): void;
}

/** Opens a resource once for all callers; after a failure the next call opens it again. */
export function createOpening<T>(open: () => Promise<T>): Opening<T> {
  let opening: Promise<T> | undefined;
  return {
    get() {
      if (opening) return opening;
      const mine = open();
      opening = mine;
      mine.catch(() => {
        // A newer opening may have replaced this one.
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
