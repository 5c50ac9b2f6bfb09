/** Unknown -> what a schema describes; what is wrong is named with its field. */
import type { z } from 'zod';
import { WinnowError } from '../errors.js';

/** @throws WinnowError `invalid_request` with one issue a line, each with the path of the field. */
export function parseInput<Schema extends z.ZodType>(schema: Schema, input: unknown): z.output<Schema> {
  const parsed = schema.safeParse(input);
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues.map((issue) => `${issue.path.join('.') || 'request'}: ${issue.message}`);
  throw new WinnowError('invalid_request', `The request is not usable: ${issues.join('; ')}.`, { issues });
}
