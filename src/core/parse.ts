/**
 * Parses unknown input by a zod schema. Each problem is one issue with the path of its field. An unknown key is mostly a typo,
 * so its issue names the nearest known key, or all known keys.
 */
import { z } from 'zod';
import { type ErrorCode, WinnowError } from './errors.js';
import { nearestName } from './nearest-name.js';

interface Place {
  root?: string;
  /** Path of the input in a larger document, for example `adaptation` in a configuration. */
  within?: string;
}

/** A list of thousands of wrong entries is mostly one mistake, and so are thousands of unknown keys. */
const MOST_ISSUES = 100;
const MOST_UNKNOWN_KEYS = 20;

/** Milliseconds of a timer. Node fires a timer of more than 24 days immediately. */
export const timerMs = z.number().min(1).max(2_147_483_647);

type Parsed<Value> = { ok: true; value: Value } | { ok: false; issues: string[] };

export function parse<Schema extends z.ZodType>(
  schema: Schema,
  input: unknown,
  { root = 'input', within }: Place = {},
): Parsed<z.output<Schema>> {
  const parsed = schema.safeParse(input, { error: unknownKeys });
  if (parsed.success) return { ok: true, value: parsed.data };
  const before = within === undefined ? [] : [within];
  const { issues } = parsed.error;
  const shown = issues
    .slice(0, MOST_ISSUES)
    .map(({ path, message }) => `${[...before, ...path].join('.') || root}: ${message}`);
  const left = issues.length - shown.length;
  return { ok: false, issues: left > 0 ? [...shown, `${root}: ${left} more problems like these`] : shown };
}

/** @throws WinnowError with `code`; its message is `problem` and every issue. */
export function parseAs<Schema extends z.ZodType>(
  schema: Schema,
  input: unknown,
  { code, problem, ...place }: Place & { code: ErrorCode; problem: string },
): z.output<Schema> {
  const parsed = parse(schema, input, place);
  if (parsed.ok) return parsed.value;
  throw new WinnowError(code, `${problem}: ${parsed.issues.join('; ')}.`, { issues: parsed.issues });
}

/** @throws WinnowError `invalid_request` */
export function parseInput<Schema extends z.ZodType>(schema: Schema, input: unknown): z.output<Schema> {
  return parseAs(schema, input, { code: 'invalid_request', problem: 'The request is not usable', root: 'request' });
}

/** @throws WinnowError `invalid_option` */
export function parseOptions<Schema extends z.ZodType>(
  schema: Schema,
  input: unknown,
  within: string,
): z.output<Schema> {
  return parseAs(schema, input, { code: 'invalid_option', problem: 'Options are not usable', within });
}

const unknownKeys: z.core.$ZodErrorMap = (issue) => {
  if (issue.code !== 'unrecognized_keys') return undefined;
  const known = issue.inst instanceof z.ZodObject ? Object.keys(issue.inst.shape) : [];
  const keys = issue.keys.slice(0, MOST_UNKNOWN_KEYS);
  const left = issue.keys.length - keys.length;
  const unknown = keys.map((key) => `"${key}"`).join(', ');
  const more = left > 0 ? ` and ${left} more` : '';
  return `Unrecognized key${issue.keys.length === 1 ? '' : 's'} ${unknown}${more}${advice(keys, known)}`;
};

function advice(unknown: readonly string[], known: readonly string[]): string {
  const near = unknown.map((key) => nearestName(key, known));
  if (near.every((name) => name !== undefined)) return `; nearest: ${near.map((name) => `"${name}"`).join(', ')}`;
  return known.length === 0 ? '' : `; known: ${known.join(', ')}`;
}
