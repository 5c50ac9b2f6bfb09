/**
 * Schemas of the router's inputs and outputs. Adapters parse with them and generate their documents from them.
 * Fields for language models follow the spelling of their tools (`top_k`); all others that of Winnow's results.
 * Approvals, audit and telemetry: see `records.ts`.
 */
import { z } from 'zod';
import { RISKS, TOOL_TYPES } from '../core/catalog/tool.js';

const MAX_NAMES = 64;
const toolName = z.string().min(1).max(256);
export const instantSchema = z.iso.datetime().describe('UTC, ISO 8601 with milliseconds.');
/** Times in queries, of any precision; converted to the form of stored times, since both are compared as texts. */
export const momentSchema = z.iso.datetime({ abort: true }).overwrite((text) => new Date(text).toISOString());
export const riskSchema = z.enum(RISKS);
const toolTypeSchema = z.enum(TOOL_TYPES);

/** An answer for the agent, not an error: it says what to do next. */
export const refusalSchema = z.object({
  code: z.string().min(1).describe('Stable, for programs; those of the gate are GATE_CODES.'),
  reason: z.string().min(1).describe('What is in the way, for people and models.'),
  next: z.string().min(1).describe('What to do now, one sentence.'),
});
export type Refusal = z.infer<typeof refusalSchema>;

export const refusedSchema = refusalSchema.extend({ ok: z.literal(false) });
const rejectedNameSchema = refusalSchema.extend({ name: z.string() });

/** Codes of the router's refusals; the sandbox has its own for failures while a tool runs. */
export const GATE_CODES = [
  'unknown_tool',
  'unavailable',
  'not_enabled',
  'too_risky',
  'precondition_unmet',
  'missing_argument',
  'outside_hours',
  'not_allowed',
  'needs_approval',
  'approval_pending',
  'approval_refused',
  'approval_expired',
  'approval_used',
  'approval_edited',
  'approval_mismatch',
  'approval_unknown',
  'approval_own',
  'approval_not_allowed',
  'approval_not_needed',
  'approval_too_large',
  'too_many_approvals',
  'too_many_enabled',
  'always_on',
  'session_ended',
] as const;
export type GateCode = (typeof GATE_CODES)[number];

/** Who makes the request, as the adapter has authenticated it. Absent: the embedding program, which is trusted. */
export const callerSchema = z.strictObject({
  user: z.string().min(1).max(256).optional(),
  roles: z.array(z.string().min(1).max(128)).max(64).optional(),
});
export type Caller = z.infer<typeof callerSchema>;

/** The account that a request counts against; nameless callers share one. Undefined: the embedding program. */
export function accountOf(caller: Caller | undefined): string | undefined {
  return caller && (caller.user ?? '');
}

/** May see the audit, the index, and all users' telemetry and approvals. */
export const OPERATOR_ROLE = 'operator';

// --- sessions ---
export const createSessionInputSchema = z.strictObject({
  user: z.string().min(1).max(256).optional().describe('Whose private tools are visible. Default: system tools only.'),
  roles: z.array(z.string().min(1).max(128)).max(64).default([]).describe('For the rules of the policy.'),
  project: z.string().min(1).max(256).optional().describe('For telemetry and adaptation.'),
  riskCeiling: riskSchema.optional().describe("Tools above it can't be found or run. Default: the policy's ceiling."),
});
export type CreateSessionInput = z.input<typeof createSessionInputSchema>;

export const ENABLED_VIAS = ['asked', 'related', 'producer', 'always', 'pinned', 'legacy', 'learnt'] as const;
const enabledToolSchema = z.object({
  name: z.string(),
  via: z.enum(ENABLED_VIAS).describe('`related` and `producer` came along; the last four stay.'),
  remainingTurns: z.int().min(1).optional().describe('The current turn counts. Absent where it stays.'),
  once: z.literal(true).optional().describe('For one call in this turn only.'),
});
export type EnabledTool = z.infer<typeof enabledToolSchema>;

export const sessionViewSchema = z.object({
  id: z.string(),
  user: z.string().optional(),
  roles: z.array(z.string()),
  project: z.string().optional(),
  riskCeiling: riskSchema.optional(),
  turn: z.int().min(1),
  createdAt: instantSchema,
  activeAt: instantSchema.describe('When it last did something.'),
  endedAt: instantSchema.optional(),
  enabled: z.array(enabledToolSchema),
});
export type SessionView = z.infer<typeof sessionViewSchema>;

// --- tool_search ---
export const searchInputSchema = z.strictObject({
  query: z.string().trim().min(1, 'say what the tool should do').max(2_000).describe('What the tool should do.'),
  top_k: z.int().min(1).max(50).default(5).describe('How many matches at most.'),
  per_scope: z
    .union([z.boolean(), z.strictObject({ system: z.int().min(0).max(50), user: z.int().min(0).max(50) })])
    .default(false)
    .describe('Count system tools and your own apart; true: 3 system, 5 own.'),
  detail: z
    .enum(['signature', 'schema'])
    .default('signature')
    .describe('schema: with the whole description and the schema of the arguments. tool_enable gives them, too.'),
});
export type SearchInput = z.input<typeof searchInputSchema>;
export type SearchRequest = z.output<typeof searchInputSchema>;

const searchMatchSchema = z.object({
  name: z.string(),
  category: z.string().optional(),
  toolType: toolTypeSchema,
  risk: riskSchema,
  description: z.string().describe('The first sentence, or with `detail: "schema"` all.'),
  signature: z.string().describe('The names and types of the arguments; `?` marks those that are optional.'),
  inputSchema: z.record(z.string(), z.unknown()).optional().describe('With `detail: "schema"`.'),
  enabled: z.boolean().describe('Whether this session may call it now.'),
  score: z.number(),
  why_matched: z.array(z.object({ word: z.string(), fields: z.array(z.string()) })),
});
export type SearchMatch = z.infer<typeof searchMatchSchema>;

export const RANKED_BY = ['rules', 'model'] as const;
export const searchOutputSchema = z.object({
  query: z.string(),
  matches: z.array(searchMatchSchema),
  ranked_by: z.enum(RANKED_BY),
  degraded: z.string().optional().describe("Why the rules' order stands although a model was asked."),
  need_clarification: z.object({ question: z.string() }).optional().describe('Ask this instead of guessing.'),
  intent: z.string().optional().describe('What is to be done, as the model that ranked understood it.'),
  confidence: z.number().min(0).max(1).optional().describe('That the first match does what is wanted.'),
  index: z.enum(['ready', 'building']).optional().describe('building: the last complete index answered.'),
  error: refusalSchema
    .optional()
    .describe('Why there are no matches: `index_not_ready`, `index_building` or `session_ended`.'),
  down: z
    .array(z.object({ server: z.string(), reason: z.string() }))
    .optional()
    .describe('Servers that are down, and why: their tools are missing here, or can not be called now.'),
  fallback: z.object({ suggestion: z.string() }).optional().describe('What to try when nothing here fits.'),
});
export type SearchOutput = z.infer<typeof searchOutputSchema>;

/** A refusal, since an empty answer would read as if no tool fitted. */
export function refusedSearch(query: string, { code, reason, next }: Refusal): SearchOutput {
  return { query, matches: [], ranked_by: 'rules', error: { code, reason, next }, fallback: { suggestion: next } };
}

// --- tool_enable, tool_disable ---
export const enableInputSchema = z.strictObject({
  names: z.array(toolName).min(1, 'name at least one tool').max(MAX_NAMES).describe('Names as tool_search gave them.'),
  ttl_turns: z.int().min(1).optional().describe('For so many turns, the current one counted. Default: 3.'),
  ephemeral: z.boolean().default(false).describe('For one call in this turn only.'),
});
export type EnableInput = z.input<typeof enableInputSchema>;

export const enableOutputSchema = z.object({
  enabled: z.array(
    z.object({
      name: z.string(),
      expires_after_turns: z.int().min(1).optional().describe('The current turn counts. Absent where it stays.'),
      ephemeral: z.literal(true).optional(),
      note: z.string().optional().describe('For example: the asked number of turns was above the maximum.'),
    }),
  ),
  related_tools: z
    .array(
      z.object({
        name: z.string(),
        via: z.enum(['related', 'producer']),
        serves: z.string().describe('Which tool, or `tool.argument`, it came along for.'),
        expires_after_turns: z.int().min(1).optional(),
      }),
    )
    .describe('Enabled too, though not asked for.'),
  not_added: z.array(rejectedNameSchema).describe('Would have come along, but was refused.'),
  rejected: z.array(rejectedNameSchema),
  callable_from: z.literal('now'),
  visible_from: z.enum(['next_request', 'next_turn']).describe('When the client puts them before the model.'),
});
export type EnableOutput = z.infer<typeof enableOutputSchema>;

export const disableInputSchema = enableInputSchema.pick({ names: true });
export type DisableInput = z.input<typeof disableInputSchema>;
export const disableOutputSchema = z.object({ disabled: z.array(z.string()), rejected: z.array(rejectedNameSchema) });
export type DisableOutput = z.infer<typeof disableOutputSchema>;

// --- list ---
const LIST_MODES = ['enabled', 'classic', 'narrow'] as const;
export const listInputSchema = z.strictObject({
  mode: z
    .enum(LIST_MODES)
    .default('enabled')
    .describe('enabled: callable now; classic: all; narrow: the best matches.'),
  query: z.string().trim().min(1).max(2_000).optional().describe('Narrow: what is to be done.'),
  top_k: z.int().min(1).max(128).optional(),
  min_score: z.number().min(0).optional(),
});
export type ListInput = z.input<typeof listInputSchema>;
export type ListRequest = z.output<typeof listInputSchema>;

export const listedToolSchema = z.object({
  name: z.string(),
  title: z.string().optional(),
  description: z.string(),
  category: z.string().optional(),
  toolType: toolTypeSchema,
  risk: riskSchema,
  inputSchema: z.record(z.string(), z.unknown()),
  outputSchema: z.record(z.string(), z.unknown()).optional().describe('Of tools of MCP servers.'),
  annotations: z
    .record(z.string(), z.unknown())
    .optional()
    .describe(
      'Of a tool of an MCP server, its hints: what is missing there is missing here, and so is what would lower the risk ' +
        'of a tool whose source is not trusted.',
    ),
  score: z.number().optional(),
});
export type ListedTool = z.infer<typeof listedToolSchema>;
export const listOutputSchema = z.union([
  z.object({ ok: z.literal(true), mode: z.enum(LIST_MODES), tools: z.array(listedToolSchema) }),
  refusedSchema.extend({ code: z.enum(['index_not_ready', 'index_building', 'no_candidates', 'session_ended']) }),
]);
export type ListOutput = z.infer<typeof listOutputSchema>;

// --- call ---
export const callInputSchema = z.strictObject({
  tool: toolName,
  arguments: z.record(z.string(), z.unknown()).default({}),
  approval: z.string().min(1).max(128).optional().describe('Id of an approval. Default: one that fits is looked for.'),
});
export type CallInput = z.input<typeof callInputSchema>;

const contentBlockSchema = z.looseObject({ type: z.string() });
/** A content block of MCP: text, image, audio, resource link or resource. */
export type ContentBlock = z.infer<typeof contentBlockSchema>;
export const contentSchema = z
  .array(contentBlockSchema)
  .readonly()
  .optional()
  .describe('What an MCP tool answered, block by block as it came: texts, images (base64), audio, links, resources.');

/** Progress of long work, as the tool reports it. */
export const progressSchema = z.object({
  progress: z.number().describe('Grows from one to the next.'),
  total: z.number().optional(),
  message: z.string().optional(),
});
export type Progress = z.infer<typeof progressSchema>;

/** A log message that a server sends while it works on a call; it chooses the data. */
export const logMessageSchema = z.object({
  level: z.enum(['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency']),
  logger: z.string().optional(),
  data: z.unknown(),
});
export type LogMessage = z.infer<typeof logMessageSchema>;

const metaSchema = z.record(z.string(), z.unknown()).optional().describe('`_meta` of the result of an MCP tool.');

export const callResultSchema = z.discriminatedUnion('ok', [
  z.object({
    ok: z.literal(true),
    output: z.unknown().describe('For models and plans: what is encoded as base64 is in `content` alone.'),
    content: contentSchema,
    meta: metaSchema,
    isStructured: z
      .literal(true)
      .optional()
      .describe('`output` is the structured content of an MCP tool, whole and as its schema promises.'),
    notes: z.array(z.string()).describe('For example: the result was shortened.'),
    milliseconds: z.number(),
  }),
  refusedSchema.extend({
    issues: z.array(z.string()).optional().describe('One problem each, with the path of what is wrong.'),
    approval: z.string().optional().describe('Id of the approval that is waited for.'),
    granted: z
      .object({ arguments: z.unknown(), changed: z.array(z.string()).describe('Names of arguments that differ.') })
      .optional()
      .describe('With `approval_edited`: what was granted in place of the call.'),
    content: contentSchema,
    meta: metaSchema,
  }),
]);
export type CallResult = z.infer<typeof callResultSchema>;
