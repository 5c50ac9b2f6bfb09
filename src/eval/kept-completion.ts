/** A completion that was kept as JSON, read back: what is none any more, or never was, is asked for anew. */
import { z } from 'zod';
import type { Completion } from '../core/model/model.js';
import { usageSchema } from '../core/result.js';

const completionSchema = z.object({
  text: z.string(),
  finish: z.enum(['stop', 'length', 'loop']),
  usage: usageSchema,
  logprobs: z.array(z.object({ text: z.string(), logprob: z.number() })).optional(),
});

export function readKeptCompletion(kept: unknown): Completion | undefined {
  const read = completionSchema.safeParse(kept);
  if (!read.success) return undefined;
  const { logprobs, ...completion } = read.data;
  return { ...completion, ...(logprobs ? { logprobs } : {}) };
}
