/** Learnt entries over HTTP. Operators see and decide on all; a person sees and reverts their own. */
import { z } from 'zod';
import { learntQuerySchema } from '../../../agents/adaptation/adaptation.js';
import { explainEntry, idOfEntry, type LearntEntry, learntEntrySchema } from '../../../agents/adaptation/entry.js';
import type { Agents } from '../../../agents/agents.js';
import type { Caller } from '../../../agents/contracts.js';
import { refuseInputSchema } from '../../../agents/records.js';
import { WinnowError } from '../../../core/errors.js';
import { isOperator } from '../caller.js';
import { BY, withDecider } from './approval-routes.js';
import { type Route, route } from './route.js';

const BASE = '/v1/adaptation';
const learntViewSchema = learntEntrySchema.extend({
  id: z.string(),
  explanation: z.string().describe('Whom it concerns, what was learnt, and on which evidence.'),
});
export type LearntView = z.infer<typeof learntViewSchema>;
const listSchema = z.object({ entries: z.array(learntViewSchema).describe('By level, subject, kind and key.') });
const DECISION = { name: 'LearntDecision', schema: refuseInputSchema.pick({ by: true }) };
const VIEW = { name: 'LearntEntry', schema: learntViewSchema };

export function adaptationRoutes({ adaptation }: Pick<Agents, 'adaptation'>): Route[] {
  /** @throws WinnowError `not_found`, also for another person's entry */
  async function visible(id: string, caller: Caller | undefined): Promise<LearntEntry> {
    const entry = await adaptation.find(id);
    if (isOperator(caller) || isOf(entry, caller)) return entry;
    throw new WinnowError('not_found', `Nothing was learnt under the id "${id.slice(0, 80)}".`);
  }

  return [
    route({
      method: 'GET',
      path: BASE,
      operationId: 'listLearnt',
      summary: 'What was learnt from use: of all users for operators, else from your own',
      query: learntQuerySchema,
      answer: { name: 'LearntList', schema: listSchema },
      async handle({ query, caller }) {
        const entries = await adaptation.list(query);
        return { entries: entries.filter((one) => isOperator(caller) || isOf(one, caller)).map(toLearntView) };
      },
    }),
    route({
      method: 'POST',
      path: `${BASE}/learn`,
      operationId: 'learn',
      summary: 'Learn from use now, as the server does from time to time; for operators',
      isForOperators: true,
      answer: { name: 'Learnt', schema: z.object({ entries: z.int().describe('Number of new and changed entries.') }) },
      handle: () => adaptation.learn(),
    }),
    route({
      method: 'GET',
      path: `${BASE}/:id`,
      operationId: 'getLearnt',
      summary: 'One thing that was learnt, with its explanation',
      answer: VIEW,
      handle: async ({ id, caller }) => toLearntView(await visible(id, caller)),
    }),
    route({
      method: 'POST',
      path: `${BASE}/:id/approve`,
      operationId: 'approveLearnt',
      summary: 'Approve a proposal; for operators, and never for the person from whose use it comes',
      isForOperators: true,
      description: BY,
      needsProof: true,
      body: DECISION,
      withCaller: withDecider,
      answer: VIEW,
      handle: async ({ id, body }) => toLearntView(await adaptation.approve(await adaptation.find(id), body.by.user)),
    }),
    route({
      method: 'POST',
      path: `${BASE}/:id/revert`,
      operationId: 'revertLearnt',
      summary: 'Refuse a proposal, or end the effect of an entry; it is not learnt again',
      description: BY,
      body: DECISION,
      withCaller: withDecider,
      answer: VIEW,
      handle: async ({ id, body, caller }) =>
        toLearntView(await adaptation.revert(await visible(id, caller), body.by.user)),
    }),
    route({
      method: 'DELETE',
      path: `${BASE}/:id`,
      operationId: 'removeLearnt',
      summary: 'Remove an entry with the decision on it; it may be learnt again',
      answer: VIEW,
      async handle({ id, caller }) {
        const entry = await visible(id, caller);
        await adaptation.remove(entry, caller?.user ?? 'operator');
        return toLearntView(entry);
      },
    }),
  ];
}

function toLearntView(entry: LearntEntry): LearntView {
  return { id: idOfEntry(entry), ...entry, explanation: explainEntry(entry) };
}

function isOf({ level, subject }: LearntEntry, caller: Caller | undefined): boolean {
  return level === 'person' && caller?.user !== undefined && subject === caller.user;
}
