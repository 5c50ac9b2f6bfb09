/** `POST /v1/plan`, `/v1/select` and `/v1/plans`: the planner's answer, whole or as a stream, to one request or to many. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '../../agents/contracts.js';
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
import { KEY_HEADERS, type Once } from './agents/idempotency.js';
import type { AnswerWork, WorkCall } from './answer-work.js';
import { type BatchEvent, type BatchParts, batchOperation, planBatch } from './batch.js';
import { withCaller } from './caller.js';
import type { Conceal } from './conceal.js';
import type { Operation } from './openapi.js';
import { publicEvent, publicSelection } from './public-answer.js';
import { createRequestPlanners, requestToolsSchema } from './request-planners.js';

interface PlanRouteParts extends Pick<BatchParts, 'gate' | 'reportError'> {
  planner: Planner;
  /** Undefined: requests bring no tools of their own. */
  plannerOf: ((catalog: Catalog) => Planner) | undefined;
  /** The part of a pino logger that is used. */
  logger: { warn(facts: object, message: string): void };
  conceal: Conceal;
  answerWork: AnswerWork;
  outcomes: Outcomes;
  once: Once;
}

/** The outcome of a plan, a selection or a batch for the log line of its request, without any content. */
export type Outcomes = WeakMap<FastifyRequest, Outcome>;
type Outcome =
  | { kind: PlanResult['kind'] | 'selection'; mode: Selection['mode'] }
  | { kind: 'batch'; requests: number; failed: number }
  | { kind: 'failed'; code: string };
interface Answered {
  answer: unknown;
  outcome: Outcome;
}

interface Endpoint {
  path: string;
  operation: Pick<Operation, 'operationId' | 'summary' | 'answer'>;
  ask(planner: Planner, request: Request, call: CallOptions): Promise<Answered>;
}

interface AskedOf extends WorkCall<TraceEvent> {
  caller: Caller | undefined;
  requestId: string;
}

export function addPlanRoutes(app: FastifyInstance, parts: PlanRouteParts): void {
  const { answerWork } = parts;
  const answerOne = createAnswerOne(parts);
  const answered = createAnswered(parts);
  for (const { path, operation, ask } of [PLAN, SELECT])
    app.post(path, { config: { operation: { ...SHARED, ...operation } } }, (request, reply) =>
      answerWork<TraceEvent>(request, reply, {
        event: 'stage',
        run: answered(request, reply, (call) => answerOne(ask, request.body, { ...askedBy(request), ...call })),
      }),
    );
  app.post('/v1/plans', { config: { operation: batchOperation(PLAN_REQUEST, RESULT) } }, (request, reply) =>
    answerWork<BatchEvent>(request, reply, {
      event: 'answer',
      run: answered(request, reply, async (call) => {
        const plan = async (one: unknown) =>
          (await answerOne(PLAN.ask, one, { ...askedBy(request), ...call, onEvent: () => {} })).answer;
        const answer = await planBatch(request, { ...parts, ...call, plan });
        const failed = answer.answers.filter(({ ok }) => !ok).length;
        return { answer, outcome: { kind: 'batch', requests: answer.answers.length, failed } };
      }),
    }),
  );
}

function askedBy({ identity: { caller }, id: requestId }: FastifyRequest): Pick<AskedOf, 'caller' | 'requestId'> {
  return { caller, requestId };
}

/** Work that is done once a key, and whose outcome is kept for the log line of its request. */
function createAnswered({ outcomes, once }: PlanRouteParts) {
  return <Event>(request: FastifyRequest, reply: FastifyReply, work: (call: WorkCall<Event>) => Promise<Answered>) =>
    ({ signal: leaving, onEvent }: WorkCall<Event>): Promise<unknown> =>
      once(request, reply, { signal: leaving, hasEffect: false }, async (signal) => {
        try {
          const { answer, outcome } = await work({ signal, onEvent });
          outcomes.set(request, outcome);
          return answer;
        } catch (error) {
          outcomes.set(request, { kind: 'failed', code: toWinnowError(error).code });
          throw error;
        }
      });
}

/** Answers one request: picks its planner, hides tools from its caller, and asks the planner. */
function createAnswerOne({ planner, plannerOf, conceal, logger }: PlanRouteParts) {
  const plannerFor = plannerOf ? createRequestPlanners(plannerOf) : refuseTools;
  return async (ask: Endpoint['ask'], body: unknown, { caller, onEvent, ...call }: AskedOf): Promise<Answered> => {
    const { tools, ...fields } = Object(body);
    const request = parseRequest(withCaller(tools === undefined ? body : fields, caller));
    const own = tools === undefined ? planner : await plannerFor(tools);
    const report = (event: TraceEvent) => {
      // The caller gets only the code of the failure.
      if (event.stage === 'fallback') logger.warn({ requestId: call.requestId }, event.note);
      onEvent(publicEvent(event));
    };
    return ask(own, conceal(request, caller, own), { ...call, onEvent: report });
  };
}

async function refuseTools(): Promise<never> {
  const issues = ['tools: this server plans with its own tools only; leave the field out'];
  throw new WinnowError('invalid_request', `The request is not usable: ${issues[0]}.`, { issues });
}

const PLAN_REQUEST = { name: 'PlanRequest', schema: requestSchema.extend({ tools: requestToolsSchema.optional() }) };
const RESULT = { name: 'PlanResult', schema: resultSchema };
const SHARED = {
  body: PLAN_REQUEST,
  headers: KEY_HEADERS,
  streams: { event: 'stage', data: { name: 'TraceEvent', schema: traceEventSchema } },
  takesRoles: false,
} as const;

const PLAN: Endpoint = {
  path: '/v1/plan',
  operation: { operationId: 'plan', summary: 'Choose tools and write a checked plan', answer: RESULT },
  async ask(planner, request, call) {
    const result = await planner.plan(request, call);
    const answer = { ...result, selection: publicSelection(result.selection), trace: result.trace.map(publicEvent) };
    return { answer, outcome: { kind: result.kind, mode: result.selection.mode } };
  },
};

const SELECT: Endpoint = {
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
};
