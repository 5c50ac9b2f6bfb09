/**
 * The result of a tool as plain JSON, without getters, classes, cycles or `__proto__` fields. Values that JSON can't
 * express get the nearest form, with a note.
 */
import { types } from 'node:util';
import { isContainer } from '../../core/catalog/schema/json.js';
import { describeThrown } from './failure.js';

type JsonOutcome =
  | { ok: true; value: unknown; text: string; notes: readonly string[] }
  | { ok: false; reason: string; isTooLarge?: true };

/** Parts count nested values; characters count strings and keys. */
interface MostJson {
  readonly characters: number;
  readonly parts: number;
}

/** @param most limits; larger values are rejected early. Default: no limit */
export function toJson(value: unknown, most: MostJson = { characters: Infinity, parts: Infinity }): JsonOutcome {
  const notes = new Set<string>();
  const count = createCount(most);
  try {
    const written = JSON.stringify(value, (key, part: unknown) => {
      count(key, part);
      return replace(part, notes);
    });
    if (written === undefined) return { ok: true, value: null, text: 'null', notes: [...notes] };
    const text = written.includes('"__proto__"') ? withoutPrototypes(written, notes) : written;
    return { ok: true, value: JSON.parse(text), text, notes: [...notes] };
  } catch (thrown) {
    if (thrown instanceof TooLarge) return { ok: false, reason: thrown.message, isTooLarge: true };
    return { ok: false, reason: `The result can't be written as JSON: ${describeThrown(thrown)}` };
  }
}

class TooLarge extends Error {}

/** A counter that throws above the limits. */
function createCount(most: MostJson): (key: string, part: unknown) => void {
  let [characters, parts] = [0, 0];
  return (key, part) => {
    characters += key.length + (typeof part === 'string' ? part.length : 1);
    parts += types.isMap(part) || types.isSet(part) ? part.size + 1 : 1;
    if (characters > most.characters)
      throw new TooLarge(`The result has more than ${most.characters} characters; a larger one is not read.`);
    if (parts > most.parts)
      throw new TooLarge(`The result has more than ${most.parts} parts; a larger one is not read.`);
  };
}

/** Nested values, the whole included. Stops above `most`, so that it reads little more of a larger value. */
export function countParts(value: unknown, most: number): number {
  const open = [value];
  for (const part of open) {
    if (open.length > most) break;
    if (isContainer(part)) for (const inner of Object.values(part)) open.push(inner);
  }
  return open.length;
}

function replace(part: unknown, notes: Set<string>): unknown {
  switch (typeof part) {
    case 'bigint':
      notes.add('a bigint of the result was written as text');
      return String(part);
    case 'function':
    case 'symbol':
      notes.add(`a ${typeof part} in the result was left out`);
      return undefined;
    case 'number':
      if (!Number.isFinite(part)) notes.add(`${part} in the result was written as null`);
      return part;
    case 'object':
      return replaceObject(part, notes);
    default:
      return part;
  }
}

function replaceObject(part: object | null, notes: Set<string>): unknown {
  if (types.isMap(part)) {
    notes.add('a Map of the result was written as an object');
    return Object.fromEntries([...part].map(([key, value]) => [String(key), value]));
  }
  if (types.isSet(part)) {
    notes.add('a Set of the result was written as a list');
    return [...part];
  }
  if (types.isNativeError(part)) {
    notes.add('an error in the result was written as its name and message');
    return { name: part.name, message: part.message };
  }
  return part;
}

/** Harmless as an own field, but a careless merge elsewhere would set a prototype with it. */
function withoutPrototypes(text: string, notes: Set<string>): string {
  const parsed: unknown = JSON.parse(text, function (this: object, key: string, value: unknown) {
    if (key !== '__proto__') return value;
    notes.add('a field "__proto__" of the result was left out');
    return undefined;
  });
  return JSON.stringify(parsed);
}
