/**
 * Errors as problem documents (RFC 9457). They show only what concerns the caller's own request. All else goes to the log
 * alone, since it may name files or servers, or quote a model.
 */

import { randomUUID } from 'node:crypto';
import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { failureFacts, type Logger } from '../../agents/logging/logger.js';
import { ERROR_TABLE, type ErrorCode, toWinnowError, WinnowError } from '../../core/errors.js';
import type { ServerOptions } from './server-options.js';

export const PROBLEM_TYPE = 'application/problem+json';

const ERROR_CODES = Object.keys(ERROR_TABLE) as [ErrorCode, ...ErrorCode[]];

export const problemSchema = z.object({
  type: z.string().describe('`urn:winnow:problem:<code>`, or `about:blank` if the status alone explains it.'),
  title: z.string().describe('What went wrong, the same for every occurrence.'),
  status: z.int().describe('The HTTP status.'),
  detail: z.string().describe('What went wrong this time.'),
  code: z.enum(ERROR_CODES).describe(codeTexts()),
  issues: z.array(z.string()).describe('One problem each, with the path of what is wrong.'),
  requestId: z.string().describe('The log has more under this id.'),
});
export type Problem = z.infer<typeof problemSchema>;

function codeTexts(): string {
  const lines = Object.entries(ERROR_TABLE).map(
    ([code, { httpStatus, meaning }]) => `\`${code}\` (${httpStatus}): ${meaning}`,
  );
  return ['Of each failure, with its status:', ...lines].join('\n');
}

/** Faults of HTTP itself, found before a planner is asked: status -> message. */
const HTTP_FAULTS = {
  400: 'The request is malformed. A JSON body and a well-formed URL are expected.',
  404: 'There is no such path. GET /openapi.json lists those there are.',
  405: 'This path does not know the method; the header Allow names those it knows.',
  408: 'The request did not arrive in time.',
  413: 'The body is larger than this server takes.',
  415: 'The body must be JSON, sent as content-type: application/json.',
  431: 'The headers are larger than this server takes.',
} as const;
type FaultStatus = keyof typeof HTTP_FAULTS;

/** Callers see their messages and issues, which concern the request alone. */
export const PUBLIC_CODES: ReadonlySet<ErrorCode> = new Set([
  'invalid_request',
  'unauthenticated',
  'forbidden',
  'not_found',
  'plan_invalid',
  'overloaded',
  'quota_exceeded',
  'conflict',
  'key_reused',
  'outcome_unknown',
  'cancelled',
]);

/** @param bodyLimitBytes shown to the sender of a longer body */
export function toProblem(thrown: unknown, requestId: string, bodyLimitBytes?: number): Problem {
  const fault = faultStatusOf(thrown);
  if (fault === 413 && bodyLimitBytes !== undefined) {
    const detail = `The body is larger than this server takes: at most ${bodyLimitBytes} bytes.`;
    return { ...faultProblem(fault, requestId), detail };
  }
  if (fault !== undefined) return faultProblem(fault, requestId);
  const { code, message, issues, meaning } = toWinnowError(thrown);
  const isPublic = PUBLIC_CODES.has(code);
  return {
    type: `urn:winnow:problem:${code}`,
    title: meaning.meaning,
    status: meaning.httpStatus,
    detail: isPublic ? message : 'The log of the server tells more under this request id.',
    code,
    issues: isPublic ? [...issues] : [],
    requestId,
  };
}

export function faultProblem(status: FaultStatus, requestId: string): Problem {
  const code = status === 404 ? 'not_found' : 'invalid_request';
  const { meaning, httpStatus } = ERROR_TABLE[code];
  const hasOwnType = status === httpStatus;
  return {
    type: hasOwnType ? `urn:winnow:problem:${code}` : 'about:blank',
    title: hasOwnType ? meaning : (STATUS_CODES[status] ?? meaning),
    status,
    detail: HTTP_FAULTS[status],
    code,
    issues: [],
    requestId,
  };
}

/** Fastify's errors carry a status; those of the 4xx family are the caller's fault, whatever their message. */
function faultStatusOf(thrown: unknown): FaultStatus | undefined {
  if (thrown instanceof WinnowError || typeof thrown !== 'object' || thrown === null) return undefined;
  const status: unknown = Reflect.get(thrown, 'statusCode');
  if (typeof status !== 'number' || status < 400 || status > 499) return undefined;
  return isFaultStatus(status) ? status : 400;
}

function isFaultStatus(status: number): status is FaultStatus {
  return Object.hasOwn(HTTP_FAULTS, status);
}

// The id of a request in log and answer: the caller's own, if it is safe in a log line.

export const REQUEST_ID_HEADER = 'x-request-id';
const SAFE_ID = /^[\w.:+/=@-]{1,128}$/;

export function requestIdOf({ headers }: Pick<IncomingMessage, 'headers'>): string {
  const given = headers[REQUEST_ID_HEADER];
  return typeof given === 'string' && SAFE_ID.test(given) ? given : randomUUID();
}

// A failed request: in full to the log, as a problem to the caller. No body, prompt or plan is logged.

export type ReportError = (thrown: unknown, request: FastifyRequest) => Problem;

/** @param isStopping refusals of a stopping server are no faults */
export function createReportError(
  logger: Logger,
  { bodyLimitBytes, isStopping }: Pick<ServerOptions, 'bodyLimitBytes'> & { isStopping: () => boolean },
): ReportError {
  return (thrown, request) => {
    const problem = toProblem(thrown, request.id, bodyLimitBytes);
    const facts = { requestId: request.id, route: request.routeOptions.url };
    const level = problem.code === 'overloaded' && isStopping() ? 'info' : 'error';
    const error = toWinnowError(thrown);
    if (problem.status >= 500) logger[level]({ ...facts, ...failureFacts(error) }, error.message);
    return problem;
  };
}

export function sendProblem(reply: FastifyReply, problem: Problem): FastifyReply {
  // As bytes: fastify would add a charset to a text, and JSON has none.
  return reply
    .header(REQUEST_ID_HEADER, problem.requestId)
    .code(problem.status)
    .type(PROBLEM_TYPE)
    .send(Buffer.from(JSON.stringify(problem)));
}

// Malformed HTTP never reaches a route: the answer is written to the socket.

const STATUS_BY_CODE: Readonly<Record<string, FaultStatus>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_HEADER_OVERFLOW: 431,
};

export function answerBrokenRequest(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed || !socket.writable) {
    socket.destroy();
    return;
  }
  const status = STATUS_BY_CODE[error.code ?? ''] ?? 400;
  const problem = faultProblem(status, randomUUID());
  const body = JSON.stringify(problem);
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    `content-type: ${PROBLEM_TYPE}`,
    `content-length: ${Buffer.byteLength(body)}`,
    `x-request-id: ${problem.requestId}`,
    'connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
}
