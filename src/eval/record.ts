/** The record of one repeat of a case: outcome and scores. A run consists of records and a summary. */
import { z } from 'zod';
import { messageSchema } from '../core/request.js';
import { selectionSchema, stepSchema, usageSchema } from '../core/result.js';

/** A step as a benchmark expects it; `"$0.field"` is the result of the first step. */
export const expectedStepSchema = z.strictObject({
  tool: z.string(),
  arguments: z.record(z.string(), z.unknown()).default({}),
  argumentsAnyOf: z
    .record(z.string(), z.array(z.unknown()))
    .optional()
    .describe('Values that count as right too; "" in the list: the argument may be left out.'),
  argumentsUnknown: z.literal(true).optional().describe('The case does not know the arguments: they are not judged.'),
});
export type ExpectedStep = z.output<typeof expectedStepSchema>;

export const RESULT_KINDS = ['plan', 'clarification', 'unplannable'] as const;

const expectedSchema = z.object({
  tools: z.array(z.string()),
  alternatives: z.array(z.array(z.string())).optional().describe('Whole sets of tools that are as good.'),
  steps: z.array(expectedStepSchema).optional(),
  edges: z
    .array(z.tuple([z.int(), z.int()]))
    .optional()
    .describe('Places in `steps`, from and to.'),
  kind: z.enum(RESULT_KINDS).optional(),
});

/** Verdict on an argument; the last three are wrong. */
const verdictSchema = z.enum([
  ...(['same', 'form', 'accepted', 'default', 'optional', 'unjudged'] as const),
  ...(['different', 'missing', 'extra'] as const),
]);
export type ArgumentVerdict = z.infer<typeof verdictSchema>;

/** The plan compared with the expected one, as the scores count it. */
const comparisonSchema = z.object({
  alternative: z
    .int()
    .min(0)
    .optional()
    .describe('Place in `expected.alternatives` of the tools that the plan fits best. Default: the expected steps.'),
  steps: z.array(
    z.object({
      expected: z.int().min(0).optional().describe('Place among the expected steps; absent: a step too many.'),
      got: z.int().min(0).optional().describe('Place in the plan; absent: the step is missing.'),
      arguments: z
        .record(z.string(), verdictSchema)
        .describe(
          'form: the same value written otherwise; accepted: another that counts as right; default: left out, or added, at ' +
            'the value that the tool takes by itself; optional: left out where it may be; unjudged: the case does not say.',
        ),
    }),
  ),
});
export type PlanComparison = z.infer<typeof comparisonSchema>;

/** Prompt and answer of a model call. A run stores each stable part once, by hash. */
const modelCallSchema = z.object({
  stage: z.enum(['selection', 'planning']),
  /** First 16 digits of the stable part's SHA-256. */
  system: z.string(),
  user: z.string(),
  answer: z.string().describe('Of a rank reading: one line a name, with its probability.'),
  error: z.string().optional(),
  usage: usageSchema,
  milliseconds: z.number(),
  fromCache: z.boolean(),
});
export type ModelCall = z.infer<typeof modelCallSchema>;

export const caseRecordSchema = z.object({
  id: z.string(),
  suite: z.string().optional().describe('Which set of cases it belongs to.'),
  repeat: z.int().min(0),
  query: z.string(),
  lang: z.string().optional(),
  tags: z.array(z.string()),
  history: z.array(messageSchema).optional(),
  entities: z.record(z.string(), z.unknown()).optional(),
  expected: expectedSchema,
  outcome: z.enum(['answered', 'error']).describe('error: the model server or Winnow failed; no wrong answer.'),
  error: z.object({ code: z.string(), message: z.string(), issues: z.array(z.string()) }).optional(),
  selection: selectionSchema.optional(),
  rung: z.string().optional().describe('Rung of the ladder of summaries; absent where selection was skipped.'),
  result: z
    .object({
      kind: z.enum([...RESULT_KINDS, 'plan_invalid']),
      steps: z.array(stepSchema).optional(),
      levels: z.array(z.array(z.string())).optional(),
      text: z.string().optional().describe('Goal of a plan, question of a clarification, else the reason.'),
      repaired: z.boolean().optional(),
    })
    .optional()
    .describe('Absent where only selection was asked for.'),
  comparison: comparisonSchema.optional().describe('Absent where no plan was expected.'),
  /** By metric; null where it does not apply to the case. */
  scores: z.record(z.string(), z.number().nullable()),
  /** Cause of a wrong case in one word, for example `not-ranked`, `cap`, `wrong-argument`. */
  cause: z.string().optional(),
  usage: z.object({
    selection: usageSchema,
    planning: usageSchema,
    schemaTokens: z.object({ all: z.int(), loaded: z.int() }),
  }),
  milliseconds: z.object({ selection: z.number(), total: z.number() }),
  calls: z.array(modelCallSchema),
});
export type CaseRecord = z.infer<typeof caseRecordSchema>;

type Failure = Readonly<{ code: string; message: string; issues: readonly string[] }>;

/** Replaces a verdict where the model server or Winnow failed, since no answer is no wrong answer. */
export function noAnswer({ code, message, issues }: Failure) {
  return {
    outcome: 'error',
    error: { code, message, issues: [...issues] },
    scores: {},
    cause: 'error',
  } satisfies Partial<CaseRecord>;
}
