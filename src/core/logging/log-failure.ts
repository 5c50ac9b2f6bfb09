/** One line of the log for what failed: in full, but for the words of a model, which may be those of a request. */
import type { WinnowError } from '../errors.js';

interface ErrorLogger {
  error(facts: object, message: string): void;
}

/** Without the issues: they may quote arguments of a plan. @param facts of the request */
export function logFailure(
  logger: ErrorLogger,
  error: WinnowError,
  facts: Readonly<Record<string, unknown>> = {},
): void {
  const { code, message, details, cause } = error;
  const stack = code === 'internal' && cause instanceof Error ? cause.stack : undefined;
  logger.error({ ...facts, code, details: withoutWords(details), stack }, message);
}

/** Of a selection the model wrote the reason, and names that are of no tool. */
function withoutWords({ selection, ...details }: WinnowError['details']): Record<string, unknown> {
  if (typeof selection !== 'object' || selection === null) return details;
  const { reason: _, dropped: __, ...facts } = { reason: '', dropped: [], ...selection };
  return { ...details, selection: facts };
}
