/** Between rows, where what is missing is null and what is nested is JSON, and records, where it is absent or a value. */
import { type ArgumentSources, argumentSourcesSchema } from '../../../core/result.js';

type NullableKeys<Row> = { [Key in keyof Row]: null extends Row[Key] ? Key : never }[keyof Row];
export type Present<Row> = Omit<Row, NullableKeys<Row>> & {
  [Key in NullableKeys<Row>]?: Exclude<Row[Key], null>;
};

/** The row without its nulls. */
export function present<Row extends object>(row: Row): Present<Row> {
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null)) as Present<Row>;
}

/** The record with null for each of the columns that it lacks. */
export function orNull<Value>(value: Value | undefined): Value | null {
  return value ?? null;
}

export function parseJson(text: string): unknown {
  return JSON.parse(text);
}

export function toJson(value: unknown): string {
  return JSON.stringify(value ?? null);
}

export function parseTexts(text: string): string[] {
  const value = parseJson(text);
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
}

/** Nothing for a row without them: of a call without a plan, or of a version before they were kept. */
export function parseSources(text: string | null): { sources?: ArgumentSources } {
  return text === null ? {} : { sources: argumentSourcesSchema.parse(parseJson(text)) };
}
