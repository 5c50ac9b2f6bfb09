/** `POST /v1/plan` and `POST /v1/select`: the planner's answer, whole or as a stream of its stages. */
import type { FastifyInstance } from 'fastify';
import type { CallOptions, Planner } from '../core/planner.js';
import { parseRequest, type Request } from '../core/request.js';
import type { TraceEvent } from '../core/result.js';
import type { AnswerWork } from './answer-work.js';
import { withCaller } from './caller.js';
import type { Conceal } from './conceal.js';
import { publicEvent, publicSelection } from './public-answer.js';

export interface PlanRouteParts {
  planner: Planner;
  /** The part of a pino logger that is used. */
  logger: { warn(facts: object, message: string): void };
  conceal: Conceal;
  answerWork: AnswerWork;
}

interface Endpoint {
  path: string;
  ask(request: Request, call: CallOptions): Promise<unknown>;
}

export function addPlanRoutes(app: FastifyInstance, { planner, logger, conceal, answerWork }: PlanRouteParts): void {
  for (const { path, ask } of endpointsOf(planner)) {
    app.post(path, async (request, reply) => {
      const { caller } = request.identity;
      const asked = conceal(parseRequest(withCaller(request.body, caller)), caller);
      return answerWork<TraceEvent>(request, reply, {
        event: 'stage',
        run: ({ signal, onEvent }) => {
          const told = (event: TraceEvent) => {
            // The caller is told the code of the failure only.
            if (event.stage === 'fallback') logger.warn({ requestId: request.id }, event.note);
            onEvent(publicEvent(event));
          };
          return ask(asked, { signal, requestId: request.id, onEvent: told });
        },
      });
    });
  }
}

function endpointsOf(planner: Planner): Endpoint[] {
  return [
    {
      path: '/v1/plan',
      async ask(request, call) {
        const result = await planner.plan(request, call);
        return { ...result, selection: publicSelection(result.selection), trace: result.trace.map(publicEvent) };
      },
    },
    {
      path: '/v1/select',
      async ask(request, call) {
        const result = await planner.select(request, call);
        return { ...publicSelection(result), trace: result.trace.map(publicEvent) };
      },
    },
  ];
}
