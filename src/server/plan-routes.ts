/** `POST /v1/plan` and `POST /v1/select`: the planner's answer, whole or as a stream of its stages. */
import type { FastifyInstance, FastifyReply } from 'fastify';
import { WinnowError } from '../errors.js';
import type { CallOptions, Planner } from '../planner.js';
import { parseRequest, type Request } from '../request.js';
import { acceptsEventStream } from './accepts-event-stream.js';
import { withCaller } from './caller.js';
import { streamEvents } from './event-stream.js';
import type { Gate } from './gate.js';
import type { Stop } from './graceful-stop.js';
import { publicEvent, publicSelection } from './public-answer.js';
import type { ReportError } from './report-error.js';

export interface PlanRouteParts {
  planner: Planner;
  gate: Gate;
  stop: Stop;
  heartbeatMs: number;
  reportError: ReportError;
}

/** `x-accel-buffering`: nginx would else hold the events back until the end. */
const EVENT_STREAM_HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-store',
  'x-accel-buffering': 'no',
  connection: 'close',
} as const;

interface Endpoint {
  path: string;
  ask(request: Request, call: CallOptions): Promise<unknown>;
}

export function addPlanRoutes(app: FastifyInstance, parts: PlanRouteParts): void {
  for (const endpoint of endpointsOf(parts.planner)) addRoute(app, endpoint, parts);
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

function addRoute(app: FastifyInstance, { path, ask }: Endpoint, parts: PlanRouteParts): void {
  const { gate, stop, heartbeatMs, reportError } = parts;
  app.post(path, async (request, reply) => {
    const asked = parseRequest(withCaller(request.body, request.headers));
    const signal = AbortSignal.any([leavingOf(reply), stop.signal]);
    const run = async (onEvent?: CallOptions['onEvent']): Promise<unknown> => {
      try {
        return await gate.run(() => ask(asked, { signal, onEvent, requestId: request.id }));
      } catch (error) {
        if (!stop.signal.aborted) throw error;
        throw new WinnowError('overloaded', 'The server stopped before the answer was ready.', { cause: error });
      }
    };
    if (!acceptsEventStream(request.headers.accept)) return run();
    const renderError = (thrown: unknown) => reportError(thrown, request);
    const stream = await streamEvents((onEvent) => run((event) => onEvent(publicEvent(event))), {
      heartbeatMs,
      renderError,
    });
    return reply.headers(EVENT_STREAM_HEADERS).send(stream);
  });
}

/** Fires when the client closes the connection before it has the whole answer. */
function leavingOf(reply: FastifyReply): AbortSignal {
  const leaving = new AbortController();
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) leaving.abort();
  });
  return leaving.signal;
}
