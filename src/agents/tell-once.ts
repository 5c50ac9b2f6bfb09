/** Tells of each thing once, for what is found anew at every look. Without anybody to tell, nothing is told. */
export function tellOnce<Thing>(
  tell: ((thing: Thing) => void) | undefined,
  keyOf: (thing: Thing) => string,
): (thing: Thing) => void {
  const told = new Set<string>();
  return (thing) => {
    const key = keyOf(thing);
    if (!told.has(key)) tell?.(thing);
    told.add(key);
  };
}
