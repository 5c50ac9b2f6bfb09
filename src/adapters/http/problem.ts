/**
 * Errors as problem documents (RFC 9457). Only what is about the caller's own request is told; all else may name
 * files, servers or the words of a model, and goes to the log alone.
 */
import { STATUS_CODES } from 'node:http';
import { z } from 'zod';
import { ERROR_TABLE, type ErrorCode, toWinnowError, WinnowError } from '../../core/errors.js';

export const PROBLEM_TYPE = 'application/problem+json';

const ERROR_CODES = Object.keys(ERROR_TABLE) as [ErrorCode, ...ErrorCode[]];

export const problemSchema = z.object({
  type: z.string().describe('`urn:winnow:problem:<code>`, or `about:blank` where the status says it all.'),
  title: z.string().describe('What went wrong, the same for every occurrence.'),
  status: z.int().describe('The HTTP status.'),
  detail: z.string().describe('What went wrong this time.'),
  code: z.enum(ERROR_CODES).describe(codeTexts()),
  issues: z.array(z.string()).describe('One problem each, with the path of what is wrong.'),
  requestId: z.string().describe('Under which the log tells more.'),
});
export type Problem = z.infer<typeof problemSchema>;

function codeTexts(): string {
  const lines = Object.entries(ERROR_TABLE).map(
    ([code, { httpStatus, meaning }]) => `\`${code}\` (${httpStatus}): ${meaning}`,
  );
  return ['Of each failure, with its status:', ...lines].join('\n');
}

/** What HTTP itself finds wrong, before a planner is asked: status -> what is said. */
export const HTTP_FAULTS = {
  400: 'The request is malformed. A JSON body and a well-formed URL are expected.',
  404: 'There is no such path. GET /openapi.json lists those there are.',
  405: 'This path does not know the method; the header Allow names those it knows.',
  408: 'The request did not arrive in time.',
  413: 'The body is larger than this server takes.',
  415: 'The body must be JSON, sent as content-type: application/json.',
  431: 'The headers are larger than this server takes.',
} as const;
export type FaultStatus = keyof typeof HTTP_FAULTS;

/** Their messages and issues speak of the request alone. */
export const TOLD: ReadonlySet<ErrorCode> = new Set([
  'invalid_request',
  'unauthenticated',
  'forbidden',
  'not_found',
  'plan_invalid',
  'overloaded',
  'quota_exceeded',
  'conflict',
  'cancelled',
]);

/** @param bodyLimitBytes told to whom sent a longer body */
export function toProblem(thrown: unknown, requestId: string, bodyLimitBytes?: number): Problem {
  const fault = faultStatusOf(thrown);
  if (fault === 413 && bodyLimitBytes !== undefined) {
    const detail = `The body is larger than this server takes: at most ${bodyLimitBytes} bytes.`;
    return { ...faultProblem(fault, requestId), detail };
  }
  if (fault !== undefined) return faultProblem(fault, requestId);
  const { code, message, issues, meaning } = toWinnowError(thrown);
  const isTold = TOLD.has(code);
  return {
    type: `urn:winnow:problem:${code}`,
    title: meaning.meaning,
    status: meaning.httpStatus,
    detail: isTold ? message : 'The log of the server tells more under this request id.',
    code,
    issues: isTold ? [...issues] : [],
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

/** Errors of fastify carry a status; those of the 4xx family are the caller's, whatever their words. */
function faultStatusOf(thrown: unknown): FaultStatus | undefined {
  if (thrown instanceof WinnowError || typeof thrown !== 'object' || thrown === null) return undefined;
  const status: unknown = Reflect.get(thrown, 'statusCode');
  if (typeof status !== 'number' || status < 400 || status > 499) return undefined;
  return isFaultStatus(status) ? status : 400;
}

function isFaultStatus(status: number): status is FaultStatus {
  return Object.hasOwn(HTTP_FAULTS, status);
}
