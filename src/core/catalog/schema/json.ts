/** Small words about JSON values that all schema code shares. */
import { isDeepStrictEqual } from 'node:util';
import type { JsonSchema } from '../tool.js';

/** A schema node while it is being rewritten: always a copy, never the author's object. */
export type Draft = Record<string, unknown>;

export const JSON_TYPES = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'] as const;
export type JsonType = (typeof JSON_TYPES)[number];

export function isObject(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isJsonType(word: unknown): word is JsonType {
  return typeof word === 'string' && (JSON_TYPES as readonly string[]).includes(word);
}

/** Whole numbers are `integer`. */
export function jsonTypeOf(value: unknown): JsonType {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  if (typeof value === 'string') return 'string';
  if (typeof value === 'boolean') return 'boolean';
  return 'object';
}

export function isOfType(value: unknown, types: readonly JsonType[]): boolean {
  const type = jsonTypeOf(value);
  return types.includes(type) || (type === 'integer' && types.includes('number'));
}

/** The `type` of a node as a list; empty where it has none. */
export function typesOf(node: JsonSchema): JsonType[] {
  const type = node.type;
  if (isJsonType(type)) return [type];
  return Array.isArray(type) ? type.filter(isJsonType) : [];
}

/** `type` as it is written: one word alone, several as a list. */
export function typeKeyword(types: readonly JsonType[]): JsonType | readonly JsonType[] {
  return types.length === 1 && types[0] !== undefined ? types[0] : types;
}

export function sameJson(left: unknown, right: unknown): boolean {
  return isDeepStrictEqual(left, right);
}

export function withoutRepeats(values: readonly unknown[]): unknown[] {
  const seen = new Set<string>();
  return values.filter((value) => {
    const key = JSON.stringify(value) ?? 'undefined';
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

const SHOWN_CHARACTERS = 60;

/** A value for a message, cut with an ellipsis. */
export function showJson(value: unknown): string {
  const text = JSON.stringify(value) ?? 'undefined';
  return text.length <= SHOWN_CHARACTERS ? text : `${text.slice(0, SHOWN_CHARACTERS)}…`;
}

/** `filters`, `tags[0]` -> `filters.tags[0]`; names that are no plain words are quoted. */
export function joinPath(path: string, step: string | number): string {
  if (typeof step === 'number') return `${path}[${step}]`;
  const word = /^[\p{L}\p{N}_$-]+$/u.test(step) ? step : JSON.stringify(step);
  return path === '' ? word : `${path}.${word}`;
}
