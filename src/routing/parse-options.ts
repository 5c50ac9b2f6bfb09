/** Options as their schema resolves them; what is wrong is named with its place in the configuration. */
import type { z } from 'zod';
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
  const issues = parsed.error.issues.map((issue) => `${[place, ...issue.path].join('.')}: ${issue.message}`);
  throw new WinnowError('invalid_option', `Options are not usable: ${issues.join('; ')}.`, { issues });
}
