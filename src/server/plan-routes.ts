/** `POST /v1/plan` and `POST /v1/select`: the planner's answer, whole or as a stream of its stages. */
import type { FastifyInstance } from 'fastify';
import type { CallOptions, Planner } from '../planner.js';
import { parseRequest, type Request } from '../request.js';
import type { TraceEvent } from '../result.js';
import type { AnswerWork } from './answer-work.js';
import { withCaller } from './caller.js';
import type { Conceal } from './conceal.js';
import { publicEvent, publicSelection } from './public-answer.js';

export interface PlanRouteParts {
  planner: Planner;
  conceal: Conceal;
  answerWork: AnswerWork;
}

interface Endpoint {
  path: string;
  ask(request: Request, call: CallOptions): Promise<unknown>;
}

export function addPlanRoutes(app: FastifyInstance, { planner, conceal, answerWork }: PlanRouteParts): void {
  for (const { path, ask } of endpointsOf(planner)) {
    app.post(path, async (request, reply) => {
      const asked = conceal(parseRequest(withCaller(request.body, request.headers)), request.headers);
      return answerWork<TraceEvent>(request, reply, {
        event: 'stage',
        run: ({ signal, onEvent }) =>
          ask(asked, { signal, requestId: request.id, onEvent: (event) => onEvent(publicEvent(event)) }),
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
