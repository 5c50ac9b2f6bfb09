/** Options as their schema resolves them; what is wrong is named with its place in the configuration. */
import { z } from 'zod';
import { WinnowError } from '../errors.js';

/**
 * @param place where the options stand, for example `adaptation`
 * @throws WinnowError `invalid_option` with one issue a line, each with the path of the field.
 */
export function parseOptions<Schema extends z.ZodType>(
  schema: Schema,
  input: unknown,
  place: string,
): z.output<Schema> {
  const parsed = schema.safeParse(input);
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues.map((issue) => `${[place, ...issue.path].join('.')}: ${describe(issue, schema)}`);
  throw new WinnowError('invalid_option', `Options are not usable: ${issues.join('; ')}.`, { issues });
}

/** A key that does not exist is mostly a slip: those that do are listed. */
function describe(issue: z.core.$ZodIssue, schema: z.core.$ZodType): string {
  if (issue.code !== 'unrecognized_keys') return issue.message;
  const unknown = issue.keys.map((key) => `"${key}"`).join(', ');
  const known = keysAt(schema, issue.path);
  const word = issue.keys.length === 1 ? 'key' : 'keys';
  return `Unrecognized ${word} ${unknown}${known.length === 0 ? '' : `; known: ${known.join(', ')}`}`;
}

/** Empty where the schema has no keys of its own there. */
function keysAt(schema: z.core.$ZodType, [key, ...rest]: readonly PropertyKey[]): string[] {
  const bare = withoutDefault(schema);
  if (bare instanceof z.ZodRecord) return key === undefined ? [] : keysAt(bare.valueType, rest);
  if (!(bare instanceof z.ZodObject)) return [];
  if (key === undefined) return Object.keys(bare.shape);
  const field = bare.shape[String(key)];
  return field ? keysAt(field, rest) : [];
}

function withoutDefault(schema: z.core.$ZodType): z.core.$ZodType {
  const isWrapped =
    schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault;
  return isWrapped ? withoutDefault(schema.unwrap()) : schema;
}
