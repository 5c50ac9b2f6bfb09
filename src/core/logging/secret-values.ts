/**
 * Which values stand under secret names in a text of a model, or for one: JSON, cut JSON, JSON inside prose or inside of
 * a JSON text. Rather too much is found than too little: what is found is masked, nothing else is done with it.
 */

/** Texts and numbers under these names, also inside of lists and objects there. */
export function secretValuesIn(text: string, names: readonly string[]): string[] {
  if (names.length === 0) return [];
  const values = new Set<string>();
  for (const form of [text, ...textsInside(text)]) for (const value of valuesAfter(form, names)) values.add(value);
  values.delete('');
  return [...values];
}

/** Texts of the JSON that hold JSON themselves, as a call's arguments often do. */
function textsInside(text: string): string[] {
  const quoted = [...text.matchAll(/"((?:[^"\\]|\\.)*)/gsu)].flatMap(([, inner]) => inner ?? []);
  return quoted.filter((inner) => inner.includes('\\"')).map(unquote);
}

/** A bracket, a text (closed or cut), a number, or what stands between them. */
const PIECE = /([{[])|([}\]])|"((?:[^"\\]|\\.)*)"?(\s*:)?|(-?\d[\d.eE+-]*)|[\s,]+|\w+/gsuy;

function* valuesAfter(text: string, names: readonly string[]): Generator<string> {
  const keys = names.map((name) => JSON.stringify(name).replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  for (const { index, 0: key } of text.matchAll(new RegExp(`(?:${keys.join('|')})\\s*:\\s*`, 'gu'))) {
    yield* valueAt(text, index + key.length);
  }
}

/** The one value that begins at this place, to its end or that of the text. */
function* valueAt(text: string, start: number): Generator<string> {
  const piece = new RegExp(PIECE);
  piece.lastIndex = start;
  let depth = 0;
  for (let found = piece.exec(text); found; found = piece.exec(text)) {
    const [, opens, closes, quoted, isKey, number] = found;
    if (opens) depth += 1;
    if (closes) depth -= 1;
    if (number !== undefined) yield number;
    if (quoted !== undefined && !isKey) yield unquote(quoted);
    if (depth <= 0) return;
  }
}

function unquote(quoted: string): string {
  try {
    return String(JSON.parse(`"${quoted}"`));
  } catch {
    return quoted;
  }
}
