/**
 * Winnow to one MCP client: its own tools, and those enabled in the session of this connection. Every call takes the way
 * of the router; the list only shows what may be called.
 */
import {
  type CallToolRequest,
  type CallToolResult,
  type ListToolsResult,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
  type Transport,
} from '@modelcontextprotocol/server';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/server/validators/ajv';
import type { Caller, CallResult, CreateSessionInput } from '../../agents/contracts.js';
import { logFailure } from '../../agents/logging/logger.js';
import { clientName } from '../../agents/meta-tools.js';
import type { Router } from '../../agents/router.js';
import { readVersion } from '../../core/environment.js';
import { toWinnowError } from '../../core/errors.js';
import { failed, structured, toResult } from './answers.js';
import { askingPerson, canAskPerson, type PersonServer } from './ask-person.js';
import { createConnectionSession } from './connection-session.js';
import { type McpOptions, renderInstructions } from './mcp-options.js';
import { createOwnNames, type OwnTool, type ToolCall } from './own-tool.js';
import { type PlanningPlanner, planningTools } from './planning-tools.js';
import { renderTool } from './render-tool.js';
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
  /** From `resolveMcpOptions`. */
  options: McpOptions;
  /** Told of what a client is not told whole. */
  logger: McpLogger;
}

export interface Connection {
  /** @throws Error of the transport */
  connect(transport: Transport): Promise<void>;
  /** Resolves when what runs now has ended. */
  idle(): Promise<void>;
  /** Cancels what runs. Idempotent. */
  close(): Promise<void>;
  /** Resolves when either side has closed it and the session has ended. */
  readonly closed: Promise<void>;
}

/** Judges what persons answer to questions, which are all of one form. Each server would make a validator of its own. */
const ANSWERS = new AjvJsonSchemaValidator();

type Asked = ServerContext['mcpReq'];

/** In the `_meta` of a call: names the turn of the client in which it is made. */
const TURN_KEY = 'winnow/turn';

export interface ConnectionOptions {
  /** Whether the client hears what it has not asked for; else it is told with its next call. Default: it always does. */
  isListening?: (() => boolean) | undefined;
  /** Who asks now, with the roles of now. Default: the program that has started the server. */
  caller?: (() => Caller | undefined) | undefined;
  /** The client asks its person for approvals, where it can and the policy lets the asker's own person decide. Default: false. */
  asksPerson?: boolean | undefined;
  /** Told of the client when it has said what it can. Default: nobody is. */
  onClient?: ((client: { canAskPerson: boolean }) => void) | undefined;
}

/** @param owner in whose name the session is opened */
export function createConnection(
  parts: McpParts,
  owner: CreateSessionInput,
  { isListening = () => true, caller = () => undefined, asksPerson = false, onClient }: ConnectionOptions = {},
): Connection {
  const { planner, options, logger } = parts;
  const { followsList, toolPrefix, turnPauseMs } = options;
  const report = (error: unknown) => logger.warn({ err: error }, 'an MCP client was not served');
  const person: PersonServer = {
    elicitInput: (...asked) => server.elicitInput(...asked),
    getClientCapabilities: () => server.getClientCapabilities(),
  };
  const router = asksPerson ? askingPerson(parts.router, person, report) : parts.router;
  const own = createOwnNames(
    [...sessionTools(router, options), ...(planner ? planningTools(router, planner) : [])],
    toolPrefix,
  );
  const taken = new Set(own.tools.keys());
  /** Name that the client was shown -> name of the tool; kept when it is not enabled any more. */
  const shown = new Map<string, string>();
  /** The same name -> whether the client knows what the tool promises to answer. */
  const isPromised = new Map<string, boolean>();
  const instructions = own.inText(renderInstructions({ canPlan: planner !== undefined, followsList }));
  const server = new Server(
    { name: 'winnow', title: 'Winnow', version: readVersion() },
    { capabilities: { tools: { listChanged: true } }, instructions, jsonSchemaValidator: ANSWERS },
  );
  const session = createConnectionSession({
    router,
    owner,
    turnPauseMs,
    onChange: tellNow,
    onError: report,
  });
  let isUntold = false;

  server.onerror = report;
  server.oninitialized = () => onClient?.({ canAskPerson: canAskPerson(server) });
  server.setRequestHandler('tools/list', (_, { mcpReq }) => list(mcpReq.signal));
  server.setRequestHandler('tools/call', ({ params }, { mcpReq }) => call(params, mcpReq));

  async function list(signal: AbortSignal): Promise<ListToolsResult> {
    try {
      const listed = await session.run((id) => router.list(id, {}, { signal, caller: caller() }));
      const enabled = (listed.ok ? listed.tools : []).map((tool) => renderTool(tool, show(tool.name)));
      for (const tool of enabled) isPromised.set(tool.name, tool.outputSchema !== undefined);
      return { tools: [...[...own.tools.values()].map((tool) => tool.listed), ...enabled] };
    } catch (error) {
      const { code, meaning } = logged(error);
      throw new ProtocolError(ProtocolErrorCode.InternalError, `${code}: ${meaning.meaning}`);
    }
  }

  function show(name: string): string {
    const one = clientName(name, taken);
    shown.set(one, name);
    return one;
  }

  async function call(
    { name, arguments: given = {} }: CallToolRequest['params'],
    asked: Asked,
  ): Promise<CallToolResult> {
    const { signal } = asked;
    const tool = own.tools.get(name);
    const onProgress = progressOf(asked);
    const answer = async (id: string) => {
      const ask = { signal, caller: caller(), onProgress };
      if (tool) return callOwn(tool, given, { session: id, ...ask });
      const called = { tool: shown.get(name) ?? name, arguments: given };
      return inOwnNames(await router.call(id, called, ask), isPromised.get(name));
    };
    const about = { isCall: true, turn: turnOf(asked._meta) };
    try {
      return await session.run(async (id) => {
        const result = await answer(id);
        // The call has been made: that its effect on the list can't be told must not hide its result.
        await tellChange(asked).catch(report);
        return result;
      }, about);
    } catch (error) {
      logged(error);
      return failed(error);
    }
  }

  async function callOwn(tool: OwnTool, given: unknown, about: ToolCall): Promise<CallToolResult> {
    const answer = await tool.answer(given, about);
    return 'content' in answer ? structured(own.inNext(answer.content)) : inOwnNames(answer.result);
  }

  function inOwnNames(result: CallResult, promised?: boolean): CallToolResult {
    return toResult(result.ok ? result : own.inNext(result), promised);
  }

  function tellNow(): void {
    if (isListening()) void server.sendToolListChanged().catch(report);
    else isUntold = true;
  }

  /** On the way of the answer, which also reaches clients that listen to nothing else. */
  async function tellChange({ signal, notify }: Asked): Promise<void> {
    if (!(await session.hasChanged()) && !isUntold) return;
    isUntold = false;
    if (signal.aborted) await server.sendToolListChanged();
    else await notify({ method: 'notifications/tools/list_changed' });
  }

  function progressOf({ _meta, notify }: Asked): ToolCall['onProgress'] {
    const progressToken = _meta?.progressToken;
    if (progressToken === undefined) return () => {};
    let progress = 0;
    return (told) => {
      progress += 1;
      const params = { progressToken, ...(typeof told === 'string' ? { progress, message: told } : told) };
      notify({ method: 'notifications/progress', params }).catch(report);
    };
  }

  /** What is not the caller's own fault is in the log. */
  function logged(thrown: unknown) {
    const error = toWinnowError(thrown);
    if (error.meaning.httpStatus >= 500) logFailure(logger, error);
    return error;
  }

  const closed = new Promise<void>((resolve) => {
    server.onclose = () => void session.end().finally(resolve);
  });
  return {
    connect: (transport) => server.connect(transport),
    idle: session.idle,
    close: () => server.close(),
    closed,
  };
}

function turnOf(meta: Record<string, unknown> | undefined): string | undefined {
  const turn = meta?.[TURN_KEY];
  return typeof turn === 'string' || typeof turn === 'number' ? String(turn) : undefined;
}
