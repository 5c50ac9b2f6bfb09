/**
 * Serves one MCP client: Winnow's own tools, and those enabled in the session of this connection. Every call goes through
 * the router; the list only shows callable tools.
 */
import {
  type CallToolRequest,
  type CallToolResult,
  type InputRequiredResult,
  type ListToolsResult,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/server/validators/ajv';
import type { Caller, CallInput, CreateSessionInput } from '../../agents/contracts.js';
import { clientName } from '../../agents/meta-tools.js';
import { type Asked, createAnswering, type McpParts, serverInfo, turnOf } from './answering.js';
import { failed } from './answers.js';
import { askingPerson, canAskPerson, type PersonServer } from './ask-person.js';
import { createConnectionSession } from './connection-session.js';
import { renderInstructions } from './mcp-options.js';
import { renderTool } from './render-tool.js';
import { askingIn } from './server-questions.js';

export interface Connection {
  /** Connect it to a transport. */
  readonly server: Server;
  /** Resolves when the work that runs now has ended. */
  idle(): Promise<void>;
  /** Cancels running work. Idempotent. */
  close(): Promise<void>;
  /** Resolves when either side has closed it and the session has ended. */
  readonly closed: Promise<void>;
}

/** Validates answers to elicitations. All servers share it, since each would make its own. */
const ANSWERS = new AjvJsonSchemaValidator();

export interface ConnectionOptions {
  /** Whether the client gets notifications now; if not, they come with its next call. Default: always. */
  isListening?: (() => boolean) | undefined;
  /** The caller of a request, with the roles of that request. Default: the program that has started the server. */
  caller?: ((context: ServerContext) => Caller | undefined) | undefined;
  /** The client asks its person for approvals, if it can and the policy lets requesters decide. Default: false. */
  asksPerson?: boolean | undefined;
  /** Called when the client has named its capabilities. Default: no call. */
  onClient?: ((client: { canAskPerson: boolean }) => void) | undefined;
}

/** @param owner of the session */
export function createConnection(
  parts: McpParts,
  owner: CreateSessionInput,
  { isListening = () => true, caller = () => undefined, asksPerson = false, onClient }: ConnectionOptions = {},
): Connection {
  const { followsList, turnPauseMs } = parts.options;
  const person: PersonServer = {
    elicitInput: (...asked) => server.elicitInput(...asked),
    getClientCapabilities: () => server.getClientCapabilities(),
  };
  const router = asksPerson ? askingPerson(parts.router, person, (error) => report(error)) : parts.router;
  const answering = createAnswering({ ...parts, router });
  const { own, capabilities, report, logged, toClient } = answering;
  const taken = new Set(own.tools.keys());
  /** Name that the client sees -> name of the tool; kept after the tool is disabled. */
  const shown = new Map<string, string>();
  /** The same name -> whether the client knows the tool's outputSchema. */
  const isPromised = new Map<string, boolean>();
  const instructions = own.inText(renderInstructions({ canPlan: parts.planner !== undefined, followsList }));
  const server = new Server(serverInfo(), { capabilities, instructions, jsonSchemaValidator: ANSWERS });
  const session = createConnectionSession({
    router,
    owner,
    turnPauseMs,
    onChange: notifyNow,
    onError: report,
  });
  let isNotificationDue = false;

  server.onerror = report;
  server.oninitialized = () => onClient?.({ canAskPerson: canAskPerson(server.getClientCapabilities()) });
  server.setRequestHandler('tools/list', (_, context) => list(context));
  server.setRequestHandler('tools/call', ({ params }, context) =>
    answering.traced(params.name, context.mcpReq, () => call(params, context)),
  );
  answering.forward(server, owner.user);

  function list(context: ServerContext): Promise<ListToolsResult> {
    return answering.list(async () => {
      const ask = { signal: context.mcpReq.signal, caller: caller(context) };
      const listed = await session.run((id) => router.list(id, {}, ask));
      const enabled = (listed.ok ? listed.tools : []).map((tool) => renderTool(tool, show(tool.name)));
      for (const tool of enabled) isPromised.set(tool.name, tool.outputSchema !== undefined);
      return enabled;
    });
  }

  function show(name: string): string {
    const one = clientName(name, taken);
    shown.set(one, name);
    return one;
  }

  async function call(
    { name, arguments: given = {} }: CallToolRequest['params'],
    context: ServerContext,
  ): Promise<CallToolResult | InputRequiredResult> {
    const { mcpReq: asked } = context;
    const tool = own.tools.get(name);
    const onQuestion = askingIn(asked, server, report);
    const ask = { caller: caller(context), ...answering.hearing(asked), onQuestion };
    const answer = async (id: string) => {
      const callTool = async (input: CallInput) => ({ result: await router.call(id, input, ask) });
      if (tool) return toClient(await tool.answer(given, { session: id, callTool, ...ask }));
      return toClient(await callTool({ tool: shown.get(name) ?? name, arguments: given }), isPromised.get(name));
    };
    const answerAndNotify = async (id: string) => {
      const result = await answer(id);
      // The call has been made: a failing notification must not hide its result.
      await notifyIfChanged(asked).catch(report);
      return result;
    };
    try {
      return await session.run(answerAndNotify, { isCall: true, turn: turnOf(asked) });
    } catch (error) {
      logged(error);
      return failed(error);
    }
  }

  function notifyNow(): void {
    if (isListening()) void server.sendToolListChanged().catch(report);
    else isNotificationDue = true;
  }

  /** Sent in the stream of the answer, which also reaches clients that do not listen. */
  async function notifyIfChanged({ signal, notify }: Asked): Promise<void> {
    if (!(await session.hasChanged()) && !isNotificationDue) return;
    isNotificationDue = false;
    if (signal.aborted) await server.sendToolListChanged();
    else await notify({ method: 'notifications/tools/list_changed' });
  }

  const closed = new Promise<void>((resolve) => {
    server.onclose = () => void session.end().finally(resolve);
  });
  return {
    server,
    idle: session.idle,
    close: () => server.close(),
    closed,
  };
}
