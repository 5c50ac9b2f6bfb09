/** Results that are kept: of an object as long as it lives, or the latest of many. */

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
