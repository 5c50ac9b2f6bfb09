/** What a tuning run tried and what came of it: `report.json`, from which `report.md` is written. */
import { z } from 'zod';
import { TUNED_PROMPTS } from './prompt-draft.js';
import { PARTS } from './split-cases.js';
import { VARIANT_KINDS } from './variant.js';

const gainSchema = z.object({
  mean: z.number().describe('After minus before, over the cases that both have.'),
  low: z.number().describe('Ends of the paired 95 % bootstrap interval.'),
  high: z.number(),
  count: z.int(),
  higher: z.int().describe('Cases that got better, worse, and that stayed.'),
  lower: z.int(),
  equal: z.int(),
});
export type Gain = z.infer<typeof gainSchema>;

export const VERDICTS = ['refused', 'lost', 'no gain', 'not clear', 'kept', 'unfinished'] as const;

export const triedSchema = z.object({
  round: z.int(),
  kind: z.enum(VARIANT_KINDS),
  about: z.string(),
  /** Of the text below `variants/`; absent where it was refused before it was tried. */
  hash: z.string().optional(),
  grownTokens: z.int().optional(),
  rungs: z.int().optional().describe('Batches of training cases that it was tried on.'),
  training: gainSchema.optional(),
  choosing: gainSchema.optional(),
  p: z.number().optional().describe('Of the sign-flip test on the choosing part, and what it had to be at most.'),
  level: z.number().optional(),
  verdict: z
    .enum(VERDICTS)
    .describe(
      'lost: to another candidate; no gain: on training; not clear: on choosing; unfinished: the budget ended.',
    ),
  issues: z.array(z.string()).optional().describe('Why it was refused.'),
});
export type Tried = z.infer<typeof triedSchema>;

export const promptReportSchema = z.object({
  prompt: z.enum(TUNED_PROMPTS),
  isChanged: z.boolean(),
  reason: z.string(),
  cases: z.object({ training: z.int(), choosing: z.int(), heldBack: z.int() }),
  /** Means of the prompt that tuning began with. */
  base: z.object({
    training: z.number().nullable().describe('Mean score.'),
    failing: z.int(),
    withoutScore: z.int().describe('Cases that say nothing about the prompt, for example where selection is skipped.'),
    withoutExample: z
      .int()
      .describe('Failing cases that do not tell the whole right answer, so that none can be shown.'),
  }),
  options: z.record(z.string(), z.unknown()).describe('What the new prompt needs to be set besides.'),
  examples: z.array(z.string()).describe('Ids of the training cases that stand in it.'),
  heldBack: gainSchema.optional().describe('Absent where nothing was kept, so that nothing was looked at.'),
  tokens: z.object({ before: z.int(), after: z.int(), allowedGrowth: z.int() }),
  tried: z.array(triedSchema),
});
export type PromptReport = z.infer<typeof promptReportSchema>;

export const tuneReportSchema = z.object({
  format: z.literal(1),
  settings: z.record(z.string(), z.unknown()),
  spent: z.object({ calls: z.int(), milliseconds: z.number() }),
  split: z.object({
    seed: z.int(),
    strata: z.record(z.string(), z.record(z.enum(PARTS), z.int())),
    ids: z.record(z.enum(PARTS), z.array(z.string())),
  }),
  notices: z.array(z.string()),
  prompts: z.array(promptReportSchema),
});
export type TuneReport = z.infer<typeof tuneReportSchema>;
