/** Policy, audit, telemetry, index, definitions and rules over HTTP. For operators; a user sees their own telemetry. */
import { z } from 'zod';
import type { Agents } from '../../../agents/agents.js';
import { type Definitions, heldToolSchema } from '../../../agents/definitions.js';
import { givenWeightsSchema } from '../../../agents/index/kept-index.js';
import { DEFAULT_MAX_SNAPSHOT_BYTES, SNAPSHOT_LEVELS, snapshotSchema } from '../../../agents/index/snapshot.js';
import { importedIndexSchema, indexStatusSchema } from '../../../agents/index/tool-index.js';
import { listedRuleSchema, ruleListSchema } from '../../../agents/kept-rules.js';
import { catalogReloadSchema } from '../../../agents/live-catalog.js';
import { checkPolicy } from '../../../agents/policy/check-policy.js';
import { replayInputSchema, replaySchema, triedCallSchema, tryCallInputSchema } from '../../../agents/policy/trial.js';
import { auditEntrySchema, auditQuerySchema } from '../../../agents/records.js';
import { telemetryQuerySchema, telemetryReportSchema } from '../../../agents/telemetry/rates.js';
import { ruleSchema } from '../../../core/catalog/rule.js';
import { WinnowError } from '../../../core/errors.js';
import { visibleQuery } from '../caller.js';
import { type Route, route } from './route.js';

const policyViewSchema = z.object({
  version: z.string().describe('Approvals are bound to it.'),
  settings: z.record(z.string(), z.unknown()).describe('The settings of the policy file, with all defaults.'),
  notes: z
    .array(z.object({ level: z.enum(['problem', 'unchecked']), message: z.string() }))
    .describe('Parts of the policy without effect on the current tools.'),
});
const trailSchema = z.object({ entries: z.array(auditEntrySchema).describe('Newest first.') });

type Shown = Pick<Agents, 'router' | 'telemetry' | 'policy' | 'policyTrial' | 'catalog'>;

export function operatorRoutes({ router, telemetry, policy, policyTrial, catalog }: Shown): Route[] {
  return [
    route({
      method: 'GET',
      path: '/v1/policy',
      operationId: 'getPolicy',
      summary: 'The policy in force; for operators',
      isForOperators: true,
      answer: { name: 'PolicyView', schema: policyViewSchema },
      handle() {
        const { version, settings } = policy();
        return { version, settings, notes: checkPolicy(policy(), catalog().tools) };
      },
    }),
    route({
      method: 'POST',
      path: '/v1/policy/test',
      operationId: 'testPolicy',
      summary: 'What the policy, or a given one, decides on a call, and by which rule; for operators',
      description: 'Decides as for the first call of a session that has enabled the tool. Nothing runs or is written.',
      isForOperators: true,
      body: { name: 'TryCallRequest', schema: tryCallInputSchema },
      answer: { name: 'TriedCall', schema: triedCallSchema },
      handle: ({ body }) => policyTrial.tryCall(body),
    }),
    route({
      method: 'POST',
      path: '/v1/policy/replay',
      operationId: 'replayPolicy',
      summary: 'Which calls of the last day another policy would decide otherwise; for operators',
      description:
        'Decides each audited call again, by the policy in force and by the given one. Arguments are known where an ' +
        'approval holds them whole; where a decision needs others, the call counts as `undecided`. Earlier calls of a ' +
        'session count where they are of that day.',
      isForOperators: true,
      body: { name: 'ReplayRequest', schema: replayInputSchema },
      answer: { name: 'PolicyReplay', schema: replaySchema },
      handle: ({ body }) => policyTrial.replay(body),
    }),
    route({
      method: 'GET',
      path: '/v1/audit',
      operationId: 'audit',
      summary: 'What was asked, decided and done; for operators',
      // It distinguishes denied tools from missing ones, which a caller must not learn.
      isForOperators: true,
      query: auditQuerySchema,
      answer: { name: 'AuditTrail', schema: trailSchema },
      handle: async ({ query }) => ({ entries: await router.audit(query) }),
    }),
    route({
      method: 'GET',
      path: '/v1/telemetry',
      operationId: 'telemetry',
      summary: 'Metrics of discovery: of all users for operators, else your own',
      query: telemetryQuerySchema,
      answer: { name: 'TelemetryReport', schema: telemetryReportSchema },
      handle({ query, caller }) {
        const visible = visibleQuery(query, caller);
        if (visible) return telemetry(visible);
        throw new WinnowError('not_found', 'There are no figures of this user that you may see.');
      },
    }),
  ];
}

// The index of tools over HTTP: its state, rebuild, export and import.

const rebuildInputSchema = z.strictObject({ weights: givenWeightsSchema.optional() });
const rebuiltSchema = indexStatusSchema.extend({
  catalog: catalogReloadSchema.optional().describe('The result of reading the sources; absent if they are fixed.'),
});
const exportQuerySchema = z.strictObject({
  level: z.enum(SNAPSHOT_LEVELS).default('meta').describe('meta: what it was built from; full: also the index itself.'),
  max_bytes: z.int().min(1).max(DEFAULT_MAX_SNAPSHOT_BYTES).optional().describe('A larger full snapshot becomes meta.'),
});
const SNAPSHOT = { name: 'IndexSnapshot', schema: snapshotSchema };
/** For the fields around the index in the body. */
const ENVELOPE_BYTES = 1_048_576;

export function indexRoutes({ index, rebuild }: Pick<Agents, 'index' | 'rebuild'>): Route[] {
  return [
    route({
      method: 'GET',
      path: '/v1/index',
      operationId: 'getIndex',
      summary: 'The state of the index of tools; for operators',
      isForOperators: true,
      answer: { name: 'IndexStatus', schema: indexStatusSchema },
      handle: () => index.status(),
    }),
    route({
      method: 'POST',
      path: '/v1/index/rebuild',
      operationId: 'rebuildIndex',
      summary: 'Reload the catalogue and rebuild the index; for operators',
      isForOperators: true,
      description:
        'Answers when the index has settled; meanwhile searches use the previous one. A source that can not be read keeps ' +
        'its earlier tools, and is listed under `catalog.kept`. The store keeps `weights`: they override the configuration, ' +
        'also after a restart, and within seconds on all servers that share the store.',
      body: { name: 'RebuildIndexRequest', schema: rebuildInputSchema },
      answer: { name: 'RebuiltIndex', schema: rebuiltSchema },
      handle: ({ body, caller }) => rebuild({ weights: body.weights, by: caller?.user }),
    }),
    route({
      method: 'GET',
      path: '/v1/index/snapshot',
      operationId: 'exportIndex',
      summary: 'The index as one document, for another process; for operators',
      isForOperators: true,
      query: exportQuerySchema,
      answer: SNAPSHOT,
      handle: ({ query }) => index.exportSnapshot({ level: query.level, maxBytes: query.max_bytes }),
    }),
    route({
      method: 'POST',
      path: '/v1/index/snapshot',
      operationId: 'importIndex',
      summary: 'Import an index that was built elsewhere, if it has the same tools and weights; for operators',
      isForOperators: true,
      body: { name: 'IndexSnapshotInput', schema: z.unknown().describe('As GET /v1/index/snapshot returns it.') },
      bodyLimitBytes: DEFAULT_MAX_SNAPSHOT_BYTES + ENVELOPE_BYTES,
      answer: { name: 'ImportedIndex', schema: importedIndexSchema },
      handle: ({ body }) => index.importSnapshot(body),
    }),
  ];
}

// Tool definitions that wait for an operator's review.

const CHANGES = '/v1/tools/changes';
const acceptSchema = z.strictObject({
  ids: z
    .array(z.string())
    .min(1)
    .max(100_000)
    .optional()
    .describe('Ids from the list. Default: all that wait, unseen.'),
});

export function definitionRoutes(definitions: Definitions): Route[] {
  return [
    route({
      method: 'GET',
      path: CHANGES,
      operationId: 'listToolChanges',
      summary: 'New and changed definitions from untrusted sources, which wait for review; for operators',
      isForOperators: true,
      answer: { name: 'ToolChanges', schema: z.object({ held: z.array(heldToolSchema) }) },
      handle: async () => ({ held: [...(await definitions.held())] }),
    }),
    route({
      method: 'POST',
      path: `${CHANGES}/accept`,
      operationId: 'acceptToolChanges',
      summary: 'Accept reviewed definitions; for operators',
      isForOperators: true,
      needsProof: true,
      body: { name: 'AcceptRequest', schema: acceptSchema },
      answer: { name: 'AcceptedTools', schema: z.object({ accepted: z.array(z.string()) }) },
      handle: async ({ body, caller }) => ({
        accepted: await definitions.accept(body.ids, caller?.user ?? 'operator'),
      }),
    }),
  ];
}

// Selection rules over HTTP: those in force, and those that operators keep here.

const RULES = '/v1/rules';
const { name, ...fields } = ruleSchema.shape;
/** `rules.put` checks it in full. */
const bodySchema = z.strictObject({ ...fields, name: name.optional().describe('Optional; the same as in the path.') });

export function ruleRoutes({ rules }: Pick<Agents, 'rules'>): Route[] {
  return [
    route({
      method: 'GET',
      path: RULES,
      operationId: 'listRules',
      summary: 'The selection rules in force, and where each is from; for operators',
      isForOperators: true,
      answer: { name: 'RuleList', schema: ruleListSchema },
      handle: () => rules.list(),
    }),
    route({
      method: 'PUT',
      path: `${RULES}/:id`,
      operationId: 'putRule',
      summary: 'Keep a rule under its name, or replace the one of that name; for operators',
      isForOperators: true,
      description:
        'It applies from the next request on, after the rules of the catalogue, whose names it can not use. As in a ' +
        'catalogue file, a name that no tool has adds nothing; it is listed under `unknownTools`.',
      body: { name: 'RuleRequest', schema: bodySchema },
      answer: { name: 'Rule', schema: listedRuleSchema },
      handle: ({ id, body, caller }) => rules.put(body, { name: id, by: caller?.user }),
    }),
    route({
      method: 'DELETE',
      path: `${RULES}/:id`,
      operationId: 'removeRule',
      summary: 'Remove a rule that is kept here, by its name; for operators',
      isForOperators: true,
      answer: { name: 'RemovedRule', schema: z.object({ removed: z.string() }) },
      async handle({ id, caller }) {
        await rules.remove(id, caller?.user);
        return { removed: id };
      },
    }),
  ];
}
