/**
 * Gives each asker a name of its own: `station`, then `station_2`. Thousands of one name take linear time.
 *
 * @returns a function from a preferred name, and the one that is numbered where it is taken (default: the same)
 */
export function createUniqueNames(): (preferred: string, otherwise?: string) => string {
  const taken = new Set<string>();
  const numbers = new Map<string, number>();
  return (preferred, otherwise = preferred) => {
    let name = preferred !== '' && !taken.has(preferred) ? preferred : otherwise;
    let number = numbers.get(otherwise) ?? 2;
    while (taken.has(name)) name = `${otherwise}_${number++}`;
    numbers.set(otherwise, number);
    taken.add(name);
    return name;
  };
}
