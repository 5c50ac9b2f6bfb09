/** References in the benchmarks' form: `"$0.field"` is a field of the first step's result. Only earlier steps count. */
import { isObject } from '../core/catalog/schema/json.js';
import { findReferences, referencesIn, renderPath } from '../core/planning/references.js';

interface GoldReference {
  /** Index of the referenced step. */
  readonly place: number;
  /** The last named field; undefined for the whole result. */
  readonly field: string | undefined;
  /** The text after the index. */
  readonly path: string;
}

const WHOLE = /^\$(\d+)((?:[.[][^$]*)?)$/u;
const INSIDE = /\$(\d+)((?:\.[\p{L}\p{N}_-]+|\[\d+\])*)/gu;

/** A whole text with a field or an index, unlike the possible prices `$3`, `$3.50` and `$3.5m`. */
const SURELY = /^\$(\d+)(?:\.[\p{L}_][\p{L}\p{N}_-]*|\[\d+\])(?:\.[\p{L}\p{N}_-]+|\[\d+\])*$/u;

/** References to steps that are not earlier, each with its path inside the value. */
export function lateReferences(value: unknown, step: number, path = ''): { path: string; text: string }[] {
  if (typeof value === 'string') {
    const place = SURELY.exec(value)?.[1];
    return place !== undefined && Number(place) >= step ? [{ path, text: value }] : [];
  }
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => lateReferences(inner, step, `${path}.${key}`));
}

/** `$100` in the third step is a price, `$1` a reference. */
export function readGoldReference(text: string, step: number): GoldReference | undefined {
  const [, place, path = ''] = WHOLE.exec(text) ?? [];
  if (place === undefined || Number(place) >= step) return undefined;
  return { place: Number(place), field: lastField(path), path };
}

/** Replaces the references in a text by `toText`; undefined where there are none. */
export function replaceGoldReferences(
  text: string,
  step: number,
  toText: (reference: GoldReference) => string,
): string | undefined {
  let found = false;
  const replaced = text.replace(INSIDE, (whole, place: string, path: string) => {
    if (Number(place) >= step) return whole;
    found = true;
    return toText({ place: Number(place), field: lastField(path), path });
  });
  return found ? replaced : undefined;
}

/** Indexes of all steps that a value refers to, each once, in order. */
export function referencedPlaces(value: unknown, step: number): number[] {
  const places = new Set<number>();
  mapTexts(value, (text) => {
    const whole = readGoldReference(text, step);
    if (whole) places.add(whole.place);
    else replaceGoldReferences(text, step, ({ place }) => String(places.add(place).size));
    return text;
  });
  return [...places].sort((one, other) => one - other);
}

/** A value in a plan's form, `${s1.field}` for `$0.field`. A reference stays where `idOf` returns undefined for its index. */
export function toPlanValue(value: unknown, step: number, idOf: (place: number) => string | undefined): unknown {
  const written = ({ place, path }: GoldReference) => {
    const id = idOf(place);
    return id === undefined ? `$${place}${path}` : `\${${id}${path}}`;
  };
  return mapTexts(value, (text) => {
    const whole = readGoldReference(text, step);
    return whole ? written(whole) : (replaceGoldReferences(text, step, written) ?? text);
  });
}

function mapTexts(value: unknown, map: (text: string) => string): unknown {
  if (typeof value === 'string') return map(value);
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, map));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mapTexts(item, map)]));
}

interface PlanReference {
  readonly stepId: string;
  readonly field: string | undefined;
}

/** Reads a value that is only a reference, `${s1.path.field}`. */
export function readPlanReference(value: unknown): PlanReference | undefined {
  const [reference] = typeof value === 'string' ? findReferences(value) : [];
  return reference?.whole ? { stepId: reference.step, field: lastNamed(reference.path) } : undefined;
}

/** The same for references inside a text. */
export function replacePlanReferences(text: string, toText: (reference: PlanReference) => string): string {
  return findReferences(text).reduce(
    (left, { text: whole, step, path }) => left.replace(whole, toText({ stepId: step, field: lastNamed(path) })),
    text,
  );
}

/** Returns a function from step id to the fields that a plan's value takes from it, in words. */
export function fieldsTaken(value: unknown): (stepId: string) => string {
  const references = referencesIn(value);
  return (stepId) => {
    const paths = references.filter(({ step }) => step === stepId).map(({ path }) => renderPath(path));
    return [...new Set(paths)].join(', ');
  };
}

function lastField(path: string): string | undefined {
  return lastNamed(path.split(/[.[\]]/u).filter(Boolean));
}

/** The last named field, since descriptions of one result wrap it and index lists differently. */
function lastNamed(path: readonly (string | number)[]): string | undefined {
  const named = path.filter((part) => typeof part === 'string' && !/^\d+$/u.test(part)).at(-1);
  return named === undefined ? undefined : String(named);
}
