/** The rules of selection over HTTP: those in force, and those that operators keep here. For operators. */
import { z } from 'zod';
import { listedRuleSchema, ruleListSchema } from '../../../agents/kept-rule.js';
import { ruleSchema } from '../../../core/catalog/rule.js';
import { requireOperator } from '../caller.js';
import type { Agents } from './agents.js';
import { type Route, route } from './route.js';

const BASE = '/v1/rules';
const { name, ...fields } = ruleSchema.shape;
/** What it adds is looked at where it is kept. */
const bodySchema = z.strictObject({ ...fields, name: name.optional().describe('As in the path; may be left out.') });

export function ruleRoutes({ rules }: Pick<Agents, 'rules'>): Route[] {
  return [
    route({
      method: 'GET',
      path: BASE,
      operationId: 'listRules',
      summary: 'The rules of selection that are in force, and where each is from; for operators',
      answer: { name: 'RuleList', schema: ruleListSchema },
      handle({ caller }) {
        requireOperator(caller);
        return rules.list();
      },
    }),
    route({
      method: 'PUT',
      path: `${BASE}/:id`,
      operationId: 'putRule',
      summary: 'Keep a rule under its name, in the place of the one of that name; for operators',
      description:
        'It counts from the next request on, after the rules of the catalogue; their names are taken. A name that no tool ' +
        'has is taken as a catalogue file takes it, adds nothing, and is listed under `unknownTools`.',
      body: { name: 'RuleRequest', schema: bodySchema },
      answer: { name: 'Rule', schema: listedRuleSchema },
      handle({ id, body, caller }) {
        requireOperator(caller);
        return rules.put(body, { name: id, by: caller?.user });
      },
    }),
    route({
      method: 'DELETE',
      path: `${BASE}/:id`,
      operationId: 'removeRule',
      summary: 'Remove a rule that is kept here, by its name; for operators',
      answer: { name: 'RemovedRule', schema: z.object({ removed: z.string() }) },
      async handle({ id, caller }) {
        requireOperator(caller);
        await rules.remove(id, caller?.user);
        return { removed: id };
      },
    }),
  ];
}
