/** What is about all users: the audit and the figures of telemetry. For operators; a user sees their own figures. */
import { z } from 'zod';
import { auditEntrySchema, auditQuerySchema } from '../../../agents/records.js';
import { telemetryReportSchema } from '../../../agents/telemetry/rates.js';
import { telemetryQuerySchema } from '../../../agents/telemetry/report.js';
import { WinnowError } from '../../../core/errors.js';
import { isOperator, requireOperator } from '../caller.js';
import type { Agents } from './agents.js';
import { type Route, route } from './route.js';

const trailSchema = z.object({ entries: z.array(auditEntrySchema).describe('Newest first.') });

export function operatorRoutes({ router, telemetry }: Pick<Agents, 'router' | 'telemetry'>): Route[] {
  return [
    route({
      method: 'GET',
      path: '/v1/audit',
      operationId: 'audit',
      summary: 'What was asked, decided and done; for operators',
      query: auditQuerySchema,
      answer: { name: 'AuditTrail', schema: trailSchema },
      async handle({ query, caller }) {
        // It tells what is denied from what does not exist, which a caller must not learn.
        requireOperator(caller);
        return { entries: await router.audit(query) };
      },
    }),
    route({
      method: 'GET',
      path: '/v1/telemetry',
      operationId: 'telemetry',
      summary: 'How well discovery works, in figures; of all users for operators, else your own',
      query: telemetryQuerySchema,
      answer: { name: 'TelemetryReport', schema: telemetryReportSchema },
      handle({ query, caller }) {
        if (isOperator(caller)) return telemetry(query);
        const user = caller?.user;
        if (user === undefined || (query.user !== undefined && query.user !== user))
          throw new WinnowError('not_found', 'There are no figures of this user that you may see.');
        return telemetry({ ...query, user });
      },
    }),
  ];
}
