/** A dry run of one call: what it would get, without running it and without a trace in the audit. */
import { z } from 'zod';
import { callInputSchema, refusedSchema, riskSchema } from '../contracts.js';
import { refusalOf } from '../policy/decide.js';
import type { Candidate } from './call-gate.js';
import { destinationOf } from './definition.js';

export const previewInputSchema = callInputSchema.pick({ tool: true, arguments: true });
export type PreviewInput = z.input<typeof previewInputSchema>;
export const previewSchema = z.discriminatedUnion('ok', [
  z.object({
    ok: z.literal(true),
    decision: z.enum(['allow', 'needs_approval']),
    reason: z.string(),
    risk: riskSchema.describe('Of the call with these arguments.'),
    where: z.string().describe('Where the call goes, for people.'),
    arguments: z.unknown().describe('As they would run, with defaults; secrets show length and digest.'),
  }),
  refusedSchema.extend({ issues: z.array(z.string()).optional().describe('One problem each, with its path.') }),
]);
export type Preview = z.infer<typeof previewSchema>;

export function toPreview({ name, decision, tool, prepared, shown }: Candidate): Preview {
  if (decision.decision === 'deny' || !tool || !prepared) return { ...refusalOf(decision, name), ok: false };
  if (!prepared.ok) return { ...prepared, issues: prepared.issues && [...prepared.issues] };
  const { decision: outcome, reason, risk } = decision;
  return { ok: true, decision: outcome, reason, risk, where: destinationOf(tool), arguments: shown };
}
