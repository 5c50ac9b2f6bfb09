/** A run of a plan as data: for the store, events and the caller. */
import { z } from 'zod';
import { isContainer } from '../../core/catalog/schema/json.js';
import { cutText } from '../../core/planning/issues.js';
import { argumentSourcesSchema, stepSchema } from '../../core/result.js';
import { contentSchema, progressSchema, refusalSchema } from '../contracts.js';

const stepId = z
  .string()
  .regex(/^[\w-]{1,64}$/u, 'letters, digits, "_" and "-" only')
  .refine((id) => id !== '__proto__', 'this name is not allowed');

/** Comparisons of a condition: strings by their characters, which suits ISO 8601 instants, and numbers by value. */
const COMPARISONS = ['equal', 'different', 'above', 'below', 'empty', 'filled'] as const;
export const conditionSchema = z.strictObject({
  value: z.string().min(1).describe('One reference: "${s1.level}", or "${item.level}" of a step with `each`.'),
  is: z.enum(COMPARISONS).describe('`empty`: nothing, null, or a text, list or object without content.'),
  to: z
    .unknown()
    .refine((value) => !isContainer(value), 'a text, a number, true, false or null is expected')
    .optional()
    .describe('The value to compare with: a text, a number, true, false or null; not for `empty` and `filled`.'),
});
export type Condition = z.output<typeof conditionSchema>;

const inputSchema = z.strictObject({
  description: z.string().optional(),
  value: z
    .unknown()
    .optional()
    .describe('Value of this run, if given; else the default. Without one, each run must give it.'),
  isMasked: z.literal(true).optional().describe('In a run from the store: the value is secret and was not kept.'),
});

export const runnablePlanSchema = z.object({
  goal: z.string().default(''),
  inputs: z
    .record(z.string().regex(/^[\w-]{1,64}$/u, 'letters, digits, "_" and "-" only'), inputSchema)
    .optional()
    .describe('By name: values that differ between runs, at most 200. "${input.city}" stands for the input `city`.'),
  steps: z
    .array(
      z.object({
        id: stepId,
        tool: z.string().min(1),
        arguments: z.record(z.string(), z.unknown()),
        from: stepSchema.shape.from,
        purpose: z.string().default(''),
        dependsOn: z.array(stepId).max(1_000).default([]),
        each: z
          .string()
          .min(1)
          .optional()
          .describe(
            'One reference to a list: the step is run for each item, which is ${item} in its arguments, at most 100. ' +
              'Its result is the list of theirs.',
          ),
        when: conditionSchema.optional().describe('The step, or an item of it, is skipped where this does not hold.'),
      }),
    )
    .min(1)
    .max(1_000),
});
/** A plan, written by the planner or otherwise: only goal, inputs and steps count. */
export type RunnablePlan = z.input<typeof runnablePlanSchema>;
export type ParsedPlan = z.output<typeof runnablePlanSchema>;
export type ParsedStep = ParsedPlan['steps'][number];

const MOST_OF_GOAL = 500;
const MOST_TOOLS = 50;
const MOST_OF_TOOL = 100;

/** What lists show of a plan: small, whatever the plan holds, since it is kept beside it and read in its place. */
export const planSummarySchema = z.object({
  goal: z.string().describe(`At most ${MOST_OF_GOAL} characters of it.`),
  tools: z.array(z.string()).describe(`Tools of its first ${MOST_TOOLS} steps, in their order.`),
});
export type PlanSummary = z.output<typeof planSummarySchema>;

export function summaryOf({ goal, steps }: ParsedPlan): PlanSummary {
  const tools = steps.slice(0, MOST_TOOLS).map(({ tool }) => cutText(tool, MOST_OF_TOOL));
  return { goal: cutText(goal, MOST_OF_GOAL), tools };
}

const STEP_STATUSES = [
  'pending',
  'planned',
  'running',
  'done',
  'failed',
  'blocked',
  'skipped',
  'needs_approval',
  'unknown',
] as const;
export const stepStateSchema = z.object({
  id: z.string(),
  status: z
    .enum(STEP_STATUSES)
    .describe(
      '`blocked`: a step before it failed. `skipped`: its condition does not hold, or what it refers to was skipped. ' +
        '`unknown`: it may have taken effect. `planned`: in a dry run.',
    ),
  attempts: z.int().min(0).describe('Calls made so far, in all runs.'),
  arguments: z.record(z.string(), z.unknown()).optional().describe('As the tool gets them, references resolved.'),
  sources: argumentSourcesSchema.optional(),
  unresolved: z.array(z.string()).optional().describe('Dry run: references to results that do not exist yet.'),
  output: z.unknown().optional(),
  content: contentSchema,
  isMasked: z
    .literal(true)
    .optional()
    .describe('In a run from the store: secrets in arguments and output were not kept.'),
  notes: z.array(z.string()).optional(),
  failure: refusalSchema.extend({ issues: z.array(z.string()).optional() }).optional(),
  approval: z.string().optional().describe('Id of the approval that it waits for.'),
  milliseconds: z.number().optional(),
});
export type StepState = z.infer<typeof stepStateSchema>;

/** Whether the step is still to be run, or waits for an approval. */
export function isOpen(state: StepState | undefined): boolean {
  return state?.status === 'pending' || state?.status === 'needs_approval';
}

/** The plan's step of a state id: `s2` for `s2[0]`. Step ids themselves never have brackets. */
export function stepOf(id: string): string {
  return id.replace(/\[\d+\]$/u, '');
}

/** Why a step that is done has no result: it did not fit. Undefined: it has its result. */
export function noteOfLeftOut({ notes = [] }: Pick<StepState, 'notes'>): string | undefined {
  return notes.find((note) => note.includes('limit runBytes'));
}

export const RUN_STATES = ['running', 'done', 'failed', 'paused', 'cancelled', 'planned'] as const;
export type RunState = (typeof RUN_STATES)[number];

const attemptSchema = z.object({
  plan: runnablePlanSchema,
  steps: z
    .record(z.string(), stepStateSchema)
    .describe('Step id -> its state; `s2[0]` is the first item of a step with `each`.'),
});

export const planRunSchema = attemptSchema.extend({
  id: z.string(),
  state: z
    .enum(RUN_STATES)
    .describe(
      '`paused`: a step waits for an approval, or a new plan for review (see notes); resume then. `planned`: a dry run.',
    ),
  earlier: attemptSchema.optional().describe('The plan that failed, where a new one was written.'),
  notes: z.array(z.string()),
});
export type PlanRun = z.infer<typeof planRunSchema>;

export const planRunEventSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('run'), run: z.string(), state: z.enum(RUN_STATES) }),
  z.object({ type: z.literal('step'), run: z.string(), step: stepStateSchema }),
  z.object({ type: z.literal('retry'), run: z.string(), step: z.string(), attempt: z.int(), reason: z.string() }),
  progressSchema.extend({ type: z.literal('progress'), run: z.string(), step: z.string() }),
  z.object({ type: z.literal('replanned'), run: z.string(), plan: runnablePlanSchema }),
]);
export type PlanRunEvent = z.infer<typeof planRunEventSchema>;
