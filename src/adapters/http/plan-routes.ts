/** `POST /v1/plan` and `POST /v1/select`: the planner's answer, whole or as a stream of its stages. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Catalog } from '../../core/catalog/catalog.js';
import { toWinnowError, WinnowError } from '../../core/errors.js';
import type { CallOptions, Planner } from '../../core/planner.js';
import { parseRequest, type Request, requestSchema } from '../../core/request.js';
import {
  type PlanResult,
  resultSchema,
  type Selection,
  selectResultSchema,
  type TraceEvent,
  traceEventSchema,
} from '../../core/result.js';
import type { AnswerWork } from './answer-work.js';
import { withCaller } from './caller.js';
import type { Conceal } from './conceal.js';
import type { Operation } from './openapi.js';
import { publicEvent, publicSelection } from './public-answer.js';
import { createRequestPlanners, requestToolsSchema } from './request-planners.js';

export interface PlanRouteParts {
  planner: Planner;
  /** Undefined: requests bring no tools of their own. */
  plannerOf: ((catalog: Catalog) => Planner) | undefined;
  /** The part of a pino logger that is used. */
  logger: { warn(facts: object, message: string): void };
  conceal: Conceal;
  answerWork: AnswerWork;
  outcomes: Outcomes;
}

/** What a plan or a selection came to, for the log line of its request; never a word of it. */
export type Outcomes = WeakMap<FastifyRequest, Outcome>;
type Outcome = { kind: PlanResult['kind'] | 'selection'; mode: Selection['mode'] } | { kind: 'failed'; code: string };

interface Endpoint {
  path: string;
  operation: Pick<Operation, 'operationId' | 'summary' | 'answer'>;
  ask(planner: Planner, request: Request, call: CallOptions): Promise<{ answer: unknown; outcome: Outcome }>;
}

export function addPlanRoutes(app: FastifyInstance, { planner, logger, ...parts }: PlanRouteParts): void {
  const { conceal, answerWork, outcomes } = parts;
  const plannerFor = createPlannerFor(parts);
  for (const { path, operation, ask } of ENDPOINTS) {
    app.post(path, { config: { operation: { ...SHARED, ...operation } } }, async (request, reply) => {
      const { caller } = request.identity;
      const { tools, ...body } = Object(request.body);
      const own = tools === undefined ? planner : await plannerFor(tools);
      const asked = conceal(parseRequest(withCaller(tools === undefined ? request.body : body, caller)), caller, own);
      return answerWork<TraceEvent>(request, reply, {
        event: 'stage',
        async run({ signal, onEvent }) {
          const told = (event: TraceEvent) => {
            // The caller is told the code of the failure only.
            if (event.stage === 'fallback') logger.warn({ requestId: request.id }, event.note);
            onEvent(publicEvent(event));
          };
          try {
            const { answer, outcome } = await ask(own, asked, { signal, requestId: request.id, onEvent: told });
            outcomes.set(request, outcome);
            return answer;
          } catch (error) {
            outcomes.set(request, { kind: 'failed', code: toWinnowError(error).code });
            throw error;
          }
        },
      });
    });
  }
}

function createPlannerFor({ plannerOf }: Pick<PlanRouteParts, 'plannerOf'>): (tools: unknown) => Promise<Planner> {
  if (plannerOf) return createRequestPlanners(plannerOf);
  return async () => {
    const issues = ['tools: this server plans with its own tools only; leave the field out'];
    throw new WinnowError('invalid_request', `The request is not usable: ${issues[0]}.`, { issues });
  };
}

const SHARED = {
  body: { name: 'PlanRequest', schema: requestSchema.extend({ tools: requestToolsSchema.optional() }) },
  streams: { event: 'stage', data: { name: 'TraceEvent', schema: traceEventSchema } },
  takesRoles: false,
} as const;

const ENDPOINTS: readonly Endpoint[] = [
  {
    path: '/v1/plan',
    operation: {
      operationId: 'plan',
      summary: 'Choose tools and write a checked plan',
      answer: { name: 'PlanResult', schema: resultSchema },
    },
    async ask(planner, request, call) {
      const result = await planner.plan(request, call);
      const answer = {
        ...result,
        selection: publicSelection(result.selection),
        trace: result.trace.map(publicEvent),
      };
      return { answer, outcome: { kind: result.kind, mode: result.selection.mode } };
    },
  },
  {
    path: '/v1/select',
    operation: {
      operationId: 'select',
      summary: 'Choose tools only',
      answer: { name: 'SelectResult', schema: selectResultSchema },
    },
    async ask(planner, request, call) {
      const result = await planner.select(request, call);
      const answer = { ...publicSelection(result), trace: result.trace.map(publicEvent) };
      return { answer, outcome: { kind: 'selection', mode: result.mode } };
    },
  },
];
