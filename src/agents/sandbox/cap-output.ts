/** A result within its room: lists, objects and texts are shortened where the form can be kept, so that references still work. */

export interface Capped {
  readonly value: unknown;
  readonly note?: string;
}

/** Items of a list, tried from many to few; a text may have so many times more characters, and an object so many more keys. */
const LIST_LIMITS = [1_000, 300, 100, 30, 10, 3, 1];
const PER_ITEM = 20;

/** `text` is the value as JSON. */
export function capOutput({ value, text }: { value: unknown; text: string }, maxBytes: number): Capped {
  const bytes = Buffer.byteLength(text);
  if (bytes <= maxBytes) return { value };
  const size = `The result had ${bytes} bytes, more than ${maxBytes} (limit maxOutputBytes)`;
  if (typeof value === 'string') return { value: cutText(value, maxBytes), note: `${size}: the text was cut.` };
  const keys = createKeys();
  for (const items of LIST_LIMITS) {
    const shorter = shorten(value, { items, room: { bytes: maxBytes }, keys });
    if (shorter === NO_ROOM) continue;
    const note = `${size}: lists were cut to ${items} items, texts to ${items * PER_ITEM} characters, objects to ${items * PER_ITEM} keys.`;
    return { value: shorter, note };
  }
  return { value: cutText(text, maxBytes), note: `${size}: it was cut, and is now a text, not JSON.` };
}

const NO_ROOM = Symbol('no room');

interface Cut {
  readonly items: number;
  /** What is left of it while the value is copied: the copy ends where nothing is. */
  readonly room: { bytes: number };
  readonly keys: (value: object) => readonly string[];
}

function shorten(value: unknown, cut: Cut): unknown {
  const { items, room, keys } = cut;
  if (typeof value !== 'object' || value === null) {
    const short = typeof value === 'string' ? value.slice(0, items * PER_ITEM) : value;
    return take(room, JSON.stringify(short)) ? short : NO_ROOM;
  }
  if (!take(room, '{}')) return NO_ROOM;
  const isList = Array.isArray(value);
  const names = isList
    ? value.slice(0, items).map((_, place) => String(place))
    : keys(value).slice(0, items * PER_ITEM);
  const parts: [string, unknown][] = [];
  for (const name of names) {
    if (!take(room, isList ? ',' : `${JSON.stringify(name)}:,`)) return NO_ROOM;
    const part = shorten(Reflect.get(value, name), cut);
    if (part === NO_ROOM) return NO_ROOM;
    parts.push([name, part]);
  }
  return isList ? parts.map(([, part]) => part) : Object.fromEntries(parts);
}

function take(room: Cut['room'], text: string): boolean {
  room.bytes -= Buffer.byteLength(text);
  return room.bytes >= 0;
}

/** Listed once: an object may have a hundred thousand. */
function createKeys(): Cut['keys'] {
  const known = new Map<object, readonly string[]>();
  return (value) => {
    const keys = known.get(value) ?? Object.keys(value);
    known.set(value, keys);
    return keys;
  };
}

/** By bytes, not within a character. */
export function cutText(text: string, maxBytes: number): string {
  return new TextDecoder().decode(Buffer.from(text).subarray(0, maxBytes), { stream: true });
}
