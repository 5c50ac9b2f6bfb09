/** Shared by all revisions of MCP: Winnow's own tools under the operator's names, progress, and errors. */
import {
  type CallToolResult,
  type Implementation,
  type InputRequiredResult,
  type ListToolsResult,
  ProtocolError,
  ProtocolErrorCode,
  type Server,
  type ServerCapabilities,
  type ServerContext,
} from '@modelcontextprotocol/server';
import type { CallResult, LogMessage } from '../../agents/contracts.js';
import { failureFacts } from '../../agents/logging/logger.js';
import type { Router } from '../../agents/router.js';
import type { PlanRuns } from '../../agents/runs/plan-runs.js';
import type { McpOffers } from '../../agents/sandbox/executors/offers.js';
import { readVersion } from '../../core/environment.js';
import { toWinnowError, WinnowError } from '../../core/errors.js';
import { withRequestSpan } from '../../core/spans.js';
import { structured, toResult } from './answers.js';
import { FORWARDED, forwardOffers } from './forward-offers.js';
import type { McpOptions } from './mcp-options.js';
import { createOwnNames, type OwnAnswer, type OwnNames, type OwnTool, type ToolCall } from './own-tool.js';
import { type PlanningPlanner, planningTools } from './planning-tools.js';
import { runTool } from './run-tool.js';
import { sessionTools } from './session-tools.js';

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
  /** The current servers, whose resources, prompts and completions reach every client without a policy check. Default: none. */
  offers?: (() => McpOffers | undefined) | undefined;
  /** From `resolveMcpOptions`. */
  options: McpOptions;
  /** Logs what clients don't see in full. */
  logger: McpLogger;
}

/** The context of one request: what the client sent beside its parameters, and how to notify it meanwhile. */
export type Asked = ServerContext['mcpReq'];

export function serverInfo(): Implementation {
  return { name: 'winnow', title: 'Winnow', version: readVersion() };
}

/** @returns a function that logs failures of background work */
export function reportTo(logger: McpLogger): (error: unknown) => void {
  return (error) => logger.warn({ err: error }, 'an MCP client was not served');
}

interface Answering {
  readonly own: OwnNames;
  readonly capabilities: ServerCapabilities;
  /** Winnow's own tools, and further ones. */
  list(findMore: () => Promise<ListToolsResult['tools']>): Promise<ListToolsResult>;
  /** Forwards what servers behind Winnow offer to a client of this user, if the operator allows it. */
  forward(server: Server, user: string | undefined): void;
  /** Logs failures of background work. */
  report(error: unknown): void;
  /** Logs the error unless it is the caller's own fault. */
  logged(thrown: unknown): WinnowError;
  /** @param promised as for `toResult` */
  inOwnNames(result: CallResult, promised?: boolean): CallToolResult;
  /** Renders the answer of an own tool for the client. */
  toClient(answer: OwnAnswer, promised?: boolean): CallToolResult | InputRequiredResult;
  /** Runs a call in a span, below that of the HTTP request or that which the client names in `_meta`. */
  traced<T>(name: string, asked: Asked, work: () => Promise<T>): Promise<T>;
  /** Sends the client the progress of a call while it runs, and the logs of the tool's server. */
  hearing(asked: Asked): Pick<ToolCall, 'signal' | 'onProgress'> & { onLog(message: LogMessage): void };
}

/** @param adapt each own tool to the kind of client. Default: no change */
export function createAnswering(parts: McpParts, adapt: (tool: OwnTool) => OwnTool = (tool) => tool): Answering {
  const { router, planner, plans, offers, options, logger } = parts;
  const tools = [
    ...sessionTools(router, options),
    ...(planner ? planningTools(router, planner, plans !== undefined) : []),
    ...(plans ? [runTool(router, plans)] : []),
  ];
  const own = createOwnNames(tools.map(adapt), options.toolPrefix);
  const report = reportTo(logger);

  const inOwnNames: Answering['inOwnNames'] = (result, promised) =>
    toResult(result.ok ? result : own.inNext(result), promised);

  return {
    own,
    capabilities: { tools: { listChanged: true }, logging: {}, ...(offers ? FORWARDED : {}) },
    report,
    inOwnNames,
    logged,

    async list(findMore) {
      try {
        const more = await findMore();
        return { tools: [...[...own.tools.values()].map(({ listed }) => listed), ...more] };
      } catch (error) {
        const { code, meaning } = logged(error);
        throw new ProtocolError(ProtocolErrorCode.InternalError, `${code}: ${meaning.meaning}`);
      }
    },

    forward(server, user) {
      if (!offers) return;
      const onFailure = (mcpServer: string, reason: string) =>
        logger.warn({ mcpServer }, `offers nothing now: ${reason}`);
      forwardOffers(server, { offers, user, onFailure });
    },
    toClient(answer, promised) {
      if ('content' in answer) return structured(own.inNext(answer.content));
      return 'question' in answer ? answer.question : inOwnNames(answer.result, promised);
    },

    traced(name, { _meta }, work) {
      // Names that the client made up stay out of traces.
      const tool = own.tools.has(name) ? ` ${name}` : '';
      const attributes = { 'mcp.method.name': 'tools/call', ...(tool ? { 'gen_ai.tool.name': name } : {}) };
      return withRequestSpan(`tools/call${tool}`, { carrier: _meta, attributes }, work);
    },

    hearing: (asked) => ({
      signal: asked.signal,
      onProgress: progressOf(asked),
      onLog: ({ level, data, logger: of }) => void asked.log(level, data, of).catch(report),
    }),
  };

  function logged(thrown: unknown): WinnowError {
    const error = toWinnowError(thrown);
    if (error.meaning.httpStatus >= 500) logger.error(failureFacts(error), error.message);
    return error;
  }

  function progressOf({ _meta, notify }: Asked): ToolCall['onProgress'] {
    const progressToken = _meta?.progressToken;
    if (progressToken === undefined) return () => {};
    let progress = 0;
    return (update) => {
      progress += 1;
      const params = { progressToken, ...(typeof update === 'string' ? { progress, message: update } : update) };
      notify({ method: 'notifications/progress', params }).catch(report);
    };
  }
}

/** In the `_meta` of a call: the client's turn. */
const TURN_KEY = 'winnow/turn';
/** A turn is kept for thousands of sessions. */
const MAX_TURN_CHARACTERS = 128;

/** @throws WinnowError `invalid_request` for a turn that is too long */
export function turnOf({ _meta }: Asked): string | undefined {
  const turn = _meta?.[TURN_KEY];
  if (typeof turn !== 'string' && typeof turn !== 'number') return undefined;
  const name = String(turn);
  if (name.length <= MAX_TURN_CHARACTERS) return name;
  const reason = `_meta["${TURN_KEY}"] has ${name.length} characters. Use at most ${MAX_TURN_CHARACTERS}.`;
  throw new WinnowError('invalid_request', reason);
}
