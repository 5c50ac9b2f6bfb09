/**
 * Winnow to one MCP client: its own tools, and those enabled in the session of this connection. Every call takes the way
 * of the router; the list only shows what may be called.
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
  /** To be connected to a transport. */
  readonly server: Server;
  /** Resolves when what runs now has ended. */
  idle(): Promise<void>;
  /** Cancels what runs. Idempotent. */
  close(): Promise<void>;
  /** Resolves when either side has closed it and the session has ended. */
  readonly closed: Promise<void>;
}

/** Judges what persons answer to questions, which are all of one form. Each server would make a validator of its own. */
const ANSWERS = new AjvJsonSchemaValidator();

export interface ConnectionOptions {
  /** Whether the client hears what it has not asked for; else it is told with its next call. Default: it always does. */
  isListening?: (() => boolean) | undefined;
  /** Who makes a request, with the roles of that request. Default: the program that has started the server. */
  caller?: ((context: ServerContext) => Caller | undefined) | undefined;
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
  const { followsList, turnPauseMs } = parts.options;
  const person: PersonServer = {
    elicitInput: (...asked) => server.elicitInput(...asked),
    getClientCapabilities: () => server.getClientCapabilities(),
  };
  const router = asksPerson ? askingPerson(parts.router, person, (error) => report(error)) : parts.router;
  const answering = createAnswering({ ...parts, router });
  const { own, capabilities, report, logged, toClient } = answering;
  const taken = new Set(own.tools.keys());
  /** Name that the client was shown -> name of the tool; kept when it is not enabled any more. */
  const shown = new Map<string, string>();
  /** The same name -> whether the client knows what the tool promises to answer. */
  const isPromised = new Map<string, boolean>();
  const instructions = own.inText(renderInstructions({ canPlan: parts.planner !== undefined, followsList }));
  const server = new Server(serverInfo(), { capabilities, instructions, jsonSchemaValidator: ANSWERS });
  const session = createConnectionSession({
    router,
    owner,
    turnPauseMs,
    onChange: tellNow,
    onError: report,
  });
  let isUntold = false;

  server.onerror = report;
  server.oninitialized = () => onClient?.({ canAskPerson: canAskPerson(server.getClientCapabilities()) });
  server.setRequestHandler('tools/list', (_, context) => list(context));
  server.setRequestHandler('tools/call', ({ params }, context) =>
    answering.traced(params.name, context.mcpReq, () => call(params, context)),
  );
  answering.handOn(server, owner.user);

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
    const about = { isCall: true, turn: turnOf(asked) };
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
