/** Which arguments a schema marks secret, and which values stand under such names in an answer. */

type Schema = Readonly<Record<string, unknown>>;

const MAX_DEPTH = 12;

/** Names of all properties marked `writeOnly: true`, `format: "password"` or `x-secret: true`, at any depth. */
export function secretArgumentNames(schema: Schema): string[] {
  const names = new Set<string>();
  const visit = (part: unknown, depth: number): void => {
    if (!isRecord(part) || depth > MAX_DEPTH) return;
    if (isRecord(part.properties)) {
      for (const [name, property] of Object.entries(part.properties)) {
        if (isRecord(property) && isMarked(property)) names.add(name);
      }
    }
    for (const inner of Object.values(part)) {
      for (const item of Array.isArray(inner) ? inner : [inner]) visit(item, depth + 1);
    }
  };
  visit(schema, 0);
  return [...names];
}

/** The values under these names in a text that is JSON, is cut JSON, or has JSON inside. */
export function secretValuesIn(text: string, names: readonly string[]): string[] {
  const values = leavesUnder(parsedOrNothing(text), new Set(names), false);
  for (const name of names) {
    const key = JSON.stringify(name).replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
    const pair = new RegExp(`${key}\\s*:\\s*(?:"((?:[^"\\\\]|\\\\.)*)|(-?[\\d.eE+-]+))`, 'gu');
    for (const [, quoted, number] of text.matchAll(pair)) values.push(number ?? unquote(quoted ?? ''));
  }
  return [...new Set(values)].filter((value) => value !== '');
}

function leavesUnder(value: unknown, names: ReadonlySet<string>, isSecret: boolean): string[] {
  if (typeof value === 'string' || typeof value === 'number') return isSecret ? [`${value}`] : [];
  if (Array.isArray(value)) return value.flatMap((item) => leavesUnder(item, names, isSecret));
  if (!isRecord(value)) return [];
  return Object.entries(value).flatMap(([name, part]) => leavesUnder(part, names, isSecret || names.has(name)));
}

function parsedOrNothing(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function unquote(quoted: string): string {
  return String(parsedOrNothing(`"${quoted}"`) ?? quoted);
}

function isMarked(property: Schema): boolean {
  return property.writeOnly === true || property.format === 'password' || property['x-secret'] === true;
}

function isRecord(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
