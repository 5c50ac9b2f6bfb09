/** A result within its room: lists and texts are shortened where the form can be kept, so that references still work. */

export interface Capped {
  readonly value: unknown;
  readonly note?: string;
}

/** Items of a list, tried from many to few; a text may have so many times more characters. */
const LIST_LIMITS = [1_000, 300, 100, 30, 10, 3, 1];
const CHARACTERS_PER_ITEM = 20;

/** `text` is the value as JSON. */
export function capOutput({ value, text }: { value: unknown; text: string }, maxBytes: number): Capped {
  const bytes = Buffer.byteLength(text);
  if (bytes <= maxBytes) return { value };
  const size = `The result had ${bytes} bytes, more than ${maxBytes} (limit maxOutputBytes)`;
  if (typeof value === 'string') return { value: cutText(value, maxBytes), note: `${size}: the text was cut.` };
  for (const items of LIST_LIMITS) {
    const shorter = shorten(value, items);
    if (Buffer.byteLength(JSON.stringify(shorter)) > maxBytes) continue;
    const note = `${size}: lists were cut to ${items} items, texts to ${items * CHARACTERS_PER_ITEM} characters.`;
    return { value: shorter, note };
  }
  return { value: cutText(text, maxBytes), note: `${size}: it was cut, and is now a text, not JSON.` };
}

function shorten(value: unknown, items: number): unknown {
  if (typeof value === 'string') return value.slice(0, items * CHARACTERS_PER_ITEM);
  if (Array.isArray(value)) return value.slice(0, items).map((item) => shorten(item, items));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, shorten(part, items)]));
}

/** By bytes, not within a character. */
export function cutText(text: string, maxBytes: number): string {
  return Buffer.from(text)
    .subarray(0, maxBytes)
    .toString('utf8')
    .replace(/\uFFFD+$/u, '');
}
