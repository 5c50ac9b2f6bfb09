/**
 * Schemas of what the router stores and reports: approvals, the audit trail and telemetry. Telemetry events never hold
 * arguments or results; the audit holds the hash of arguments, and where they come from.
 */
import { z } from 'zod';
import { argumentSourcesSchema } from '../core/result.js';
import {
  callerSchema,
  callInputSchema,
  ENABLED_VIAS,
  instantSchema,
  momentSchema,
  RANKED_BY,
  refusedSchema,
  riskSchema,
} from './contracts.js';
import { conditionSchema } from './runs/plan-run.js';

// --- approvals ---
const APPROVAL_STATES = ['pending', 'granted', 'refused', 'used', 'expired'] as const;
const GRANTS = ['once', 'session'] as const;
export const approvedPlanSchema = z.object({
  name: z.string(),
  hash: z.string().describe('Hash of the kept plan.'),
  goal: z.string(),
  steps: z.array(
    z.object({
      id: z.string(),
      tool: z.string(),
      purpose: z.string(),
      arguments: z.record(z.string(), z.unknown()).describe('As they will run, secrets masked; or with references.'),
      sources: argumentSourcesSchema.optional(),
      dependsOn: z.array(z.string()),
      each: z.string().optional(),
      when: conditionSchema.optional(),
      where: z.string(),
      risk: riskSchema,
      argumentsHash: z
        .string()
        .optional()
        .describe('Set for steps that the grant covers. Absent: it uses results, and requests its own approval later.'),
    }),
  ),
});
export type ApprovedPlan = z.infer<typeof approvedPlanSchema>;
export const approvalSchema = z.object({
  id: z.string(),
  session: z.string(),
  user: z.string().describe('Who asks.'),
  tool: z.string().describe('Its name; of a plan as a whole, `plan NAME`.'),
  plan: approvedPlanSchema.optional().describe('Set for the approval of a whole plan; `arguments` are its inputs.'),
  arguments: z
    .unknown()
    .describe(
      'As they will run, except values that the schema of the tool marks secret: these show length and digest.',
    ),
  sources: argumentSourcesSchema.optional(),
  argumentsHash: z
    .string()
    .describe('HMAC-SHA-256 of the canonical `arguments` (RFC 8785), with the key of the store, in hexadecimal.'),
  granted: z
    .object({ arguments: z.unknown(), argumentsHash: z.string() })
    .optional()
    .describe('Set if `decidedBy` has changed the arguments: the grant is only for a call with these.'),
  policyVersion: z
    .string()
    .describe('Version of the policy, a dot, and a hash of the definition, source and target of the tool.'),
  state: z.enum(APPROVAL_STATES),
  grant: z.enum(GRANTS).describe('once: for one call; session: for these arguments until the session ends.'),
  reason: z.string().describe("Why the policy requires approval; once decided, the approver's reason."),
  requestedAt: instantSchema,
  expiresAt: instantSchema.describe('From then on it counts as refused.'),
  decidedBy: z.string().optional(),
  decidedAt: instantSchema.optional(),
  usedAt: instantSchema.optional(),
  runs: z
    .object({ where: z.string(), risk: riskSchema })
    .optional()
    .describe('Where the call goes, and its risk with these arguments.'),
  last: z
    .object({
      approval: z.string(),
      decidedBy: z.string(),
      decidedAt: instantSchema,
      differences: z.array(
        z.object({ argument: z.string(), before: z.unknown().optional(), now: z.unknown().optional() }),
      ),
    })
    .optional()
    .describe('While it waits: differences from the last call of this tool that was approved for the asker.'),
});
export type Approval = z.infer<typeof approvalSchema>;

export const requestApprovalInputSchema = callInputSchema.pick({ tool: true, arguments: true }).extend({
  reason: z.string().trim().min(1).max(1_000).optional().describe('Why it is wanted, for the approver.'),
});
export type RequestApprovalInput = z.input<typeof requestApprovalInputSchema>;

export const grantInputSchema = z.strictObject({
  by: callerSchema.extend({ user: z.string().min(1).max(256) }).describe('Who decides; over HTTP never the asker.'),
  grant: z.enum(GRANTS).default('once'),
  reason: z.string().max(1_000).optional(),
  arguments: callInputSchema.shape.arguments
    .unwrap()
    .optional()
    .describe(
      'All arguments that the call may be made with, in place of those asked for. A secret that is left out, or written ' +
        'as it is shown, stays unchanged. Default: those asked for.',
    ),
});
export type GrantInput = z.input<typeof grantInputSchema>;
export const refuseInputSchema = grantInputSchema.omit({ grant: true, arguments: true });
export type RefuseInput = z.input<typeof refuseInputSchema>;
export const approvalOutputSchema = z.discriminatedUnion('ok', [
  z.object({ ok: z.literal(true), approval: approvalSchema }),
  refusedSchema.extend({
    issues: z.array(z.string()).optional().describe('Problems of the arguments, each with its path.'),
  }),
]);
export type ApprovalOutput = z.infer<typeof approvalOutputSchema>;

// --- audit and telemetry ---
const AUDIT_EVENTS = [
  'session_created',
  'session_ended',
  'turn',
  'search',
  'list',
  'enable',
  'disable',
  'call',
  'approval_requested',
  'approval_granted',
  'approval_refused',
  'approval_expired',
  'policy_loaded',
  'policy_kept',
  'catalog_reloaded',
  'catalog_kept',
  'index_weighed',
  'definition_accepted',
  'private_tool_added',
  'private_tool_removed',
  'plan_kept',
  'plan_removed',
  'rule_put',
  'rule_removed',
  'learnt_approved',
  'learnt_reverted',
  'learnt_removed',
  'connection_made',
  'connection_ended',
  'connection_removed',
] as const;
const AUDIT_OUTCOMES = ['allowed', 'denied', 'unknown', 'refused', 'needs_approval', 'failed', 'warned'] as const;
export const auditEntrySchema = z.object({
  id: z.string(),
  at: instantSchema,
  event: z.enum(AUDIT_EVENTS),
  outcome: z
    .enum(AUDIT_OUTCOMES)
    .describe('Only here does `denied` differ from `unknown`; `warned`: would have been stopped under strict.'),
  session: z.string().optional(),
  user: z.string().optional(),
  turn: z.int().optional(),
  tool: z.string().optional(),
  code: z.string().optional(),
  reason: z.string().optional(),
  argumentsHash: z.string().optional(),
  sources: argumentSourcesSchema.optional(),
  approval: z.string().optional(),
  policyVersion: z.string().optional(),
});
export type AuditEntry = z.infer<typeof auditEntrySchema>;
/** An entry before it is written: the store adds the id, and the ledger the time. */
export type BareEntry = Omit<AuditEntry, 'id' | 'at'>;

export const pageSchema = z.strictObject({
  session: z.string().min(1).optional(),
  user: z.string().min(1).optional(),
  tool: z.string().min(1).optional(),
  since: momentSchema.optional(),
  limit: z.int().min(1).max(1_000).default(100),
});
export const auditQuerySchema = pageSchema.extend({
  event: z.enum(AUDIT_EVENTS).optional(),
  outcome: z.enum(AUDIT_OUTCOMES).optional(),
});
export type AuditQuery = z.input<typeof auditQuerySchema>;
export const approvalQuerySchema = pageSchema.extend({
  state: z.enum(APPROVAL_STATES).optional(),
  after: z.string().min(1).max(128).optional().describe('`next` of the page before: goes on behind it.'),
});
export type ApprovalQuery = z.input<typeof approvalQuerySchema>;
export const approvalPageSchema = z.object({
  approvals: z.array(approvalSchema).describe('Newest first.'),
  next: z.string().optional().describe('There are more: ask for those `after` it. A page also ends after 4 MiB.'),
});
export type ApprovalPage = z.output<typeof approvalPageSchema>;

const telemetryCommon = {
  at: instantSchema,
  session: z.string(),
  user: z.string().optional(),
  project: z.string().optional(),
  turn: z.int().min(1),
};
/** What happened, for rates and for adaptation; never arguments or results. */
export const telemetryEventSchema = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('search'),
    ...telemetryCommon,
    query: z.string(),
    names: z.array(z.string()).describe('As ranked, best first.'),
    rankedBy: z.enum(RANKED_BY),
    milliseconds: z.number(),
  }),
  z.object({ type: z.literal('enable'), ...telemetryCommon, tool: z.string(), via: z.enum(ENABLED_VIAS) }),
  z.object({ type: z.literal('disable'), ...telemetryCommon, tool: z.string() }),
  z.object({
    type: z.literal('expire'),
    ...telemetryCommon,
    tool: z.string().describe('Its turns are over, or its session ended.'),
    calls: z.int().min(0).describe('How often it was called while it was enabled.'),
  }),
  z.object({
    type: z.literal('call'),
    ...telemetryCommon,
    tool: z.string(),
    ok: z.boolean(),
    code: z.string().optional(),
    milliseconds: z.number(),
  }),
]);
export type TelemetryEvent = z.infer<typeof telemetryEventSchema>;
