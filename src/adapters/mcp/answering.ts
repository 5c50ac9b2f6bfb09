/** What clients of all revisions get alike: Winnow's own tools under the operator's names, progress, and errors. */
import type { CallToolResult, Implementation, InputRequiredResult, ServerContext } from '@modelcontextprotocol/server';
import type { CallResult, LogMessage } from '../../agents/contracts.js';
import { logFailure } from '../../agents/logging/logger.js';
import type { Router } from '../../agents/router.js';
import type { PlanRuns } from '../../agents/runs/plan-runs.js';
import type { McpOffers } from '../../agents/sandbox/executors/offers.js';
import { readVersion } from '../../core/environment.js';
import { toWinnowError, type WinnowError } from '../../core/errors.js';
import { structured, toResult } from './answers.js';
import type { McpOptions } from './mcp-options.js';
import { createOwnNames, type OwnAnswer, type OwnNames, type OwnTool, type ToolCall } from './own-tool.js';
import type { PlanningPlanner } from './planning-tools.js';

/** The part of a pino logger that is used. */
export interface McpLogger {
  warn(facts: object, message: string): void;
  error(facts: object, message: string): void;
}

export interface McpParts {
  router: Router;
  /** For the tools `plan` and `select`. Default: they are not offered. */
  planner?: PlanningPlanner | undefined;
  /** For the tool `run`. Default: it is not offered. */
  plans?: PlanRuns | undefined;
  /** Of now. Resources, prompts and completions of these servers reach every client; no policy is asked. Default: none do. */
  offers?: (() => McpOffers | undefined) | undefined;
  /** From `resolveMcpOptions`. */
  options: McpOptions;
  /** Told of what a client is not told whole. */
  logger: McpLogger;
}

/** Of one request: what the client has sent beside its parameters, and how it hears of what happens meanwhile. */
export type Asked = ServerContext['mcpReq'];

export function serverInfo(): Implementation {
  return { name: 'winnow', title: 'Winnow', version: readVersion() };
}

export interface Answering {
  readonly own: OwnNames;
  /** Told of what fails while nobody waits for it. */
  report(error: unknown): void;
  /** Told of a server behind Winnow that gives nothing. */
  skipped(server: string, reason: string): void;
  /** What is not the caller's own fault is in the log. */
  logged(thrown: unknown): WinnowError;
  /** @param promised as for `toResult` */
  inOwnNames(result: CallResult, promised?: boolean): CallToolResult;
  /** What an own tool answered, as the client gets it. */
  toClient(answer: OwnAnswer, promised?: boolean): CallToolResult | InputRequiredResult;
  progressOf(asked: Asked): ToolCall['onProgress'];
  /** What the server of the tool logs, to a client that asks for it. */
  logOf(asked: Asked): (message: LogMessage) => void;
}

export function createAnswering({ options, logger }: McpParts, tools: readonly OwnTool[]): Answering {
  const own = createOwnNames(tools, options.toolPrefix);
  const report = (error: unknown) => logger.warn({ err: error }, 'an MCP client was not served');

  const inOwnNames: Answering['inOwnNames'] = (result, promised) =>
    toResult(result.ok ? result : own.inNext(result), promised);

  return {
    own,
    report,
    skipped: (mcpServer, reason) => logger.warn({ mcpServer }, `offers nothing now: ${reason}`),
    inOwnNames,
    logged(thrown) {
      const error = toWinnowError(thrown);
      if (error.meaning.httpStatus >= 500) logFailure(logger, error);
      return error;
    },
    toClient(answer, promised) {
      if ('content' in answer) return structured(own.inNext(answer.content));
      return 'question' in answer ? answer.question : inOwnNames(answer.result, promised);
    },

    logOf(asked) {
      return ({ level, data, logger: of }) => void asked.log(level, data, of).catch(report);
    },

    progressOf({ _meta, notify }) {
      const progressToken = _meta?.progressToken;
      if (progressToken === undefined) return () => {};
      let progress = 0;
      return (told) => {
        progress += 1;
        const params = { progressToken, ...(typeof told === 'string' ? { progress, message: told } : told) };
        notify({ method: 'notifications/progress', params }).catch(report);
      };
    },
  };
}

/** In the `_meta` of a call: names the turn of the client in which it is made. */
const TURN_KEY = 'winnow/turn';

export function turnOf({ _meta }: Asked): string | undefined {
  const turn = _meta?.[TURN_KEY];
  return typeof turn === 'string' || typeof turn === 'number' ? String(turn) : undefined;
}
