/** The result for a caller: a checked plan, a question to the user, or the reason why there is no plan. */
import { z } from 'zod';

export const usageSchema = z.object({
  calls: z.int(),
  read: z.int().describe('Prompt tokens that the model server processed.'),
  cached: z.int().describe('Prompt tokens that the model server had in its cache.'),
  written: z.int(),
});

const VIAS = ['model', 'rule', 'producer', 'companion', 'always', 'required', 'keyword', 'all'] as const;
const selectedToolSchema = z.object({
  name: z.string(),
  via: z.enum(VIAS).describe('Why the tool was selected.'),
  rank: z.int().optional().describe('Place in the ranking of the model or of the keywords, from 1.'),
  probability: z.number().optional().describe('Of this name as the next, between 0 and 1, where the model gives it.'),
  fill: z.literal(true).optional().describe('Not surely chosen: added because there was room.'),
  serves: z
    .string()
    .optional()
    .describe(
      'Producers: the `tool.argument` that the result provides. Others: the tool, rule or single ask that added it.',
    ),
});
export type SelectedTool = z.infer<typeof selectedToolSchema>;

const droppedSchema = z.object({
  name: z.string(),
  reason: z.enum(['unknown', 'duplicate', 'cap', 'schemaTokens']),
  suggestion: z.string().optional().describe('The nearest known name, where one is near.'),
});
export type Dropped = z.infer<typeof droppedSchema>;

const SELECTION_MODES = ['selected', 'passthrough', 'fallback', 'none'] as const;
export const selectionSchema = z.object({
  mode: z
    .enum(SELECTION_MODES)
    .describe('`none`: the model found that no tool fits; only tools that are always loaded remain.'),
  reason: z.string(),
  confidence: z
    .number()
    .optional()
    .describe('Rank: the probability of the chosen names as the first, between 0 and 1.'),
  tools: z.array(selectedToolSchema),
  dropped: z.array(droppedSchema),
  leftOut: z
    .int()
    .describe('Visible tools that did not fit into the prompt of selection, or into the budget of the fallback.'),
});
export type Selection = z.infer<typeof selectionSchema>;

/**
 * `step`: a field of an earlier result; `request`: words of the request, its history or entities; `computed`: a day, time or
 * number derived from the request; `enum`, `default`: from the schema; `composed`: a text in the model's own words;
 * `unknown`: an identifier, number or moment without a source (only where a model wrote the whole plan); `person`: edited by
 * a person afterwards. The planner never writes `person`; a program that lets people edit plans does.
 */
const SOURCES = ['step', 'request', 'computed', 'enum', 'default', 'composed', 'unknown', 'person'] as const;
export type SourceName = (typeof SOURCES)[number];

/** Information from the plan for approvers and for the audit; nothing enforces it. */
const argumentSourceSchema = z.object({
  source: z.enum(SOURCES),
  references: z.array(z.string()).min(1).optional().describe('Those that the plan used here: "${s1.code}".'),
});
export type ArgumentSource = z.infer<typeof argumentSourceSchema>;
export const argumentSourcesSchema = z
  .record(z.string(), argumentSourceSchema)
  .describe('Where each argument comes from, according to the plan; absent for a call without a plan.');
export type ArgumentSources = z.infer<typeof argumentSourcesSchema>;

export const stepSchema = z.object({
  id: z.string(),
  tool: z.string(),
  arguments: z.record(z.string(), z.unknown()),
  from: z
    .record(z.string(), z.enum(SOURCES))
    .optional()
    .describe('Where each argument comes from; plans of the planner always have it. An edited argument has `person`.'),
  purpose: z.string(),
  dependsOn: z.array(z.string()),
});
export type Step = z.infer<typeof stepSchema>;

export const traceEventSchema = z.looseObject({
  stage: z.string(),
  milliseconds: z.number().describe('Since the request began.'),
  note: z.string(),
});
export type TraceEvent = z.infer<typeof traceEventSchema>;

const unservedSchema = z.array(z.string()).describe('Parts of the request that no tool serves.');

const common = {
  selection: selectionSchema,
  usage: z.object({
    selection: usageSchema,
    planning: usageSchema,
    schemaTokens: z.object({ all: z.int(), loaded: z.int() }),
    milliseconds: z.number(),
  }),
  trace: z.array(traceEventSchema),
};

export const planSchema = z.object({
  kind: z.literal('plan'),
  goal: z.string(),
  steps: z.array(stepSchema).min(1),
  levels: z.array(z.array(z.string())).describe('Steps of one level may run side by side.'),
  unserved: unservedSchema,
  confidence: z
    .number()
    .optional()
    .describe('Probability of the least sure tool or value, between 0 and 1, where the model gives probabilities.'),
  ...common,
});
export const clarificationSchema = z.object({
  kind: z.literal('clarification'),
  question: z.string(),
  missing: z.array(z.string()),
  unserved: unservedSchema,
  ...common,
});
export const unplannableSchema = z.object({ kind: z.literal('unplannable'), reason: z.string(), ...common });

export const resultSchema = z.discriminatedUnion('kind', [planSchema, clarificationSchema, unplannableSchema]);
export type PlanResult = z.infer<typeof resultSchema>;
export type Plan = z.infer<typeof planSchema>;

export const selectResultSchema = selectionSchema.extend({
  usage: common.usage,
  trace: common.trace,
});
export type SelectResult = z.infer<typeof selectResultSchema>;
