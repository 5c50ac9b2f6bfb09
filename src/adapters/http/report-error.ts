/** A failed request: in full to the log, as a problem to the caller. No body, prompt or plan is logged. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Logger, logFailure } from '../../agents/logging/logger.js';
import { toWinnowError } from '../../core/errors.js';
import { PROBLEM_TYPE, type Problem, toProblem } from './problem.js';
import { REQUEST_ID_HEADER } from './request-id.js';
import type { ServerOptions } from './server-options.js';

export type ReportError = (thrown: unknown, request: FastifyRequest) => Problem;

export function createReportError(
  logger: Logger,
  { bodyLimitBytes }: Pick<ServerOptions, 'bodyLimitBytes'>,
): ReportError {
  return (thrown, request) => {
    const problem = toProblem(thrown, request.id, bodyLimitBytes);
    if (problem.status >= 500)
      logFailure(logger, toWinnowError(thrown), { requestId: request.id, route: request.routeOptions.url });
    return problem;
  };
}

export function sendProblem(reply: FastifyReply, problem: Problem): FastifyReply {
  // As bytes: to a text fastify adds a charset, which JSON has not.
  return reply
    .header(REQUEST_ID_HEADER, problem.requestId)
    .code(problem.status)
    .type(PROBLEM_TYPE)
    .send(Buffer.from(JSON.stringify(problem)));
}
