/** Many requests in one: each has its own answer or failure at its index, streamed as soon as it is ready. */
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { accountOf } from '../../agents/contracts.js';
import { parseInput } from '../../core/parse.js';
import { KEY_HEADERS } from './agents/idempotency.js';
import { isFields } from './caller.js';
import type { Gate } from './gate.js';
import type { Named, Operation } from './openapi.js';
import { type Problem, problemSchema, type ReportError } from './problem.js';
import { requestToolsSchema } from './request-planners.js';

const MAX_REQUESTS = 100;
/** Most concurrent requests of a batch, if the caller's share of `server.concurrency` has free places. */
const MAX_AT_ONCE = 8;

export type BatchEvent = { index: number } & ({ ok: true; result: unknown } | { ok: false; problem: Problem });

/** @param item schema of a request. The server parses each on its turn, so that a mistake fails that request alone. */
const batchSchema = (item: z.ZodType) =>
  z.strictObject({
    requests: z.array(item).min(1).max(MAX_REQUESTS),
    tools: requestToolsSchema.optional().describe('For all requests that bring none of their own.'),
  });
const parsedSchema = batchSchema(z.unknown());

export function batchOperation(request: Named, result: Named): Operation {
  const place = z.int().min(0).describe('Index of its request in the list.');
  const event = z.discriminatedUnion('ok', [
    z.object({ index: place, ok: z.literal(true), result: result.schema }),
    z.object({ index: place, ok: z.literal(false), problem: problemSchema }),
  ]);
  return {
    operationId: 'planBatch',
    summary: 'Plan many requests; a failure concerns its own request only',
    description:
      `Up to ${MAX_AT_ONCE} are planned at once, as the caller's share of the server allows. The answers have the order ` +
      'of the requests.',
    body: { name: 'BatchRequest', schema: batchSchema(request.schema) },
    answer: { name: 'BatchResult', schema: z.object({ answers: z.array(event) }) },
    streams: { event: 'answer', data: { name: 'BatchAnswer', schema: event } },
    headers: KEY_HEADERS,
    takesRoles: false,
  };
}

export interface BatchParts {
  gate: Gate;
  reportError: ReportError;
  signal: AbortSignal;
  onEvent: (event: BatchEvent) => void;
  plan(request: unknown): Promise<unknown>;
}

/** Call it in a place of the gate. @throws WinnowError `invalid_request`, and the reason of the signal */
export async function planBatch(asked: FastifyRequest, parts: BatchParts): Promise<{ answers: BatchEvent[] }> {
  const { gate, reportError, signal, onEvent, plan } = parts;
  const { requests, tools } = parseInput(parsedSchema, asked.body);
  const shared = tools === undefined ? {} : { tools };
  const waiting = requests.entries();
  const answers: BatchEvent[] = [];

  const answer = async (index: number, request: unknown): Promise<BatchEvent> => {
    try {
      return { index, ok: true, result: await plan(isFields(request) ? { ...shared, ...request } : request) };
    } catch (error) {
      signal.throwIfAborted();
      return { index, ok: false, problem: reportError(error, asked) };
    }
  };
  const work = async (): Promise<void> => {
    for (const [index, request] of waiting) {
      const event = await answer(index, request);
      answers[index] = event;
      onEvent(event);
    }
  };
  const workers = Array.from({ length: Math.min(requests.length, MAX_AT_ONCE) - 1 }, () =>
    // Without a free place, the other workers do the work.
    gate.tryRun(accountOf(asked.identity.caller), work),
  );
  await Promise.all([work(), ...workers]);
  return { answers };
}
