/**
 * Rules state which tools a kind of request always needs, whatever the model picks. They are data of a catalogue, or are
 * stored beside it by operators.
 */
import { z } from 'zod';
import { oncePer } from '../kept.js';
import { createSafePattern, isPattern, NO_PATTERN } from './schema/safe-pattern.js';

const names = z.array(z.string().min(1)).min(1).max(10_000).optional();

export const ruleSchema = z
  .strictObject({
    name: z.string().min(1).describe('Shown in the selection with the tools that the rule added.'),
    when: z
      .strictObject({
        entities: z.array(z.string().min(1)).min(1).optional().describe('Keys of `entities` that must all be present.'),
        intent: z
          .union([z.string().min(1), z.array(z.string().min(1)).min(1)])
          .optional()
          .describe('The intent, or one of several.'),
        message: z
          .string()
          .max(1_000, { abort: true })
          .refine(isPattern, NO_PATTERN)
          .optional()
          .describe('Regular expression that matches the message, ignoring case.'),
      })
      .refine((when) => Object.keys(when).length > 0, 'a rule needs at least one condition; all given ones must hold'),
    first: names.describe('Tools put before all others.'),
    last: names.describe('Tools put after all others.'),
    include: names.describe('Tools that the selection must include, at any place.'),
  })
  .refine(
    ({ first, last, include }) => (first ?? last ?? include) !== undefined,
    'a rule needs first, last or include: tools that it adds',
  );
export type Rule = z.infer<typeof ruleSchema>;

/** Compiled once, which takes longer than matching. */
export const patternOf = oncePer(({ message = '' }: Rule['when']) => createSafePattern(message, { ignoreCase: true }));
