/**
 * Serves clients of MCP 2026-07-28, whose requests are stateless. The list of tools depends on the caller alone: Winnow's
 * own tools, and those that are always on. Enabled tools belong to a session that the client names by a handle.
 */
import {
  type CallToolRequest,
  type CallToolResult,
  type InputRequiredResult,
  type ListToolsResult,
  Server,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { CallInput } from '../../agents/contracts.js';
import { clientName } from '../../agents/meta-tools.js';
import { parseInput } from '../../core/parse.js';
import { type Asked, createAnswering, type McpParts, serverInfo, turnOf } from './answering.js';
import { failed } from './answers.js';
import { callAskingBack, capabilitiesOf, readState } from './ask-back.js';
import { canAskPerson } from './ask-person.js';
import { type Asker, createHandles, type Named } from './handles.js';
import { renderInstructions } from './mcp-options.js';
import { type OwnAnswer, type ToolCall, withHandle } from './own-tool.js';
import { renderTool } from './render-tool.js';
import { createOpenCalls } from './server-questions.js';

interface StatelessOptions {
  /** The client's own person may decide on approvals, if the policy lets them. Default: false. */
  asksPerson?: boolean | undefined;
  /** Called with the client's first request. Default: no call. */
  onClient?: ((client: { canAskPerson: boolean }) => void) | undefined;
}

interface Stateless {
  /** Connect it to a transport of its own, since each server has its own asker. */
  serverFor(asker: Asker): { readonly server: Server; idle(): Promise<void> };
  /** Calls back whenever this asker's list of tools has changed. @returns a function that ends it */
  watch(asker: Asker, onChange: () => void): () => void;
  /** Cancels calls that wait for an answer of their client. */
  cancel(): void;
  /** The same, and ends the sessions that were opened here. Call it when no work runs any more. */
  end(): Promise<void>;
}

/** Clients may cache the list: only policy and catalogue change it, and listening clients are notified. */
const LIST_TTL_MS = 60_000;
/** The description of the server changes only with its configuration. */
const DISCOVER_TTL_MS = 3_600_000;

/** In the `_meta` of a call: the session, for tools that are always on, whose arguments have no field for it. */
const SESSION_KEY = 'winnow/session';
const handleSchema = z.object({ session: z.string().min(1).max(128).optional() });

export function createStateless(parts: McpParts, { asksPerson = false, onClient }: StatelessOptions = {}): Stateless {
  const { planner, router, options } = parts;
  const byHandle = { ...options, followsList: false };
  const answering = createAnswering({ ...parts, options: byHandle }, withHandle);
  const { own, capabilities, report, logged, toClient } = answering;
  const open = createOpenCalls();
  const handles = createHandles({ router, turnPauseMs: options.turnPauseMs, onError: report });
  const taken = new Set(own.tools.keys());
  const instructions = own.inText(renderInstructions({ canPlan: planner !== undefined, ...byHandle, byHandle: true }));
  let isClientReported = false;

  async function startingTools({ owner }: Asker) {
    const tools = await router.startingTools(owner);
    return tools.map((tool) => ({ name: tool.name, listed: renderTool(tool, clientName(tool.name, taken)) }));
  }

  function list(asker: Asker): Promise<ListToolsResult> {
    return answering.list(async () => (await startingTools(asker)).map(({ listed }) => listed));
  }

  async function call(
    { name, arguments: given = {} }: CallToolRequest['params'],
    { asker, asked }: { asker: Asker; asked: Asked },
  ): Promise<CallToolResult | InputRequiredResult> {
    try {
      const tool = own.tools.get(name);
      const { session = asked._meta?.[SESSION_KEY], ...rest } = tool ? given : {};
      const begun = asked.requestState<ReturnType<typeof readState>>();
      const { session: handle } = parseInput(handleSchema, { session });
      const isOwn = handle === undefined && begun?.isOwn !== false;
      const named = { handle: handle ?? begun?.session, isOwn, turn: turnOf(asked) };
      const always = tool ? [] : await startingTools(asker);
      const shown = always.find(({ listed }) => listed.name === name);
      const answer = await within(asker, named, (session) => {
        const ask = { caller: asker.caller, ...answering.hearing(asked) };
        const callTool = (input: CallInput) =>
          callAskingBack(router, input, { session, isOwn, ask, asked, asksPerson, open });
        const call: ToolCall = { session, callTool, ...ask };
        return tool ? tool.answer(rest, call) : callTool({ tool: shown?.name ?? name, arguments: given });
      });
      return toClient(answer, shown?.listed.outputSchema !== undefined);
    } catch (error) {
      logged(error);
      return failed(error);
    }
  }

  /** Uses the named session or a new one, which the answer names if there is a reason to return. */
  function within(asker: Asker, named: Named, work: (session: string) => Promise<OwnAnswer>): Promise<OwnAnswer> {
    const answerIn = async (session: string) => {
      const answer = await work(session);
      const isKept = comesBack(answer);
      return { value: isKept ? withSession(answer, session) : answer, isKept };
    };
    return handles.within(asker, named, answerIn, (reason): OwnAnswer => {
      const next = 'Call tool_search or tool_enable without a session, and name the one of the answer from then on.';
      return { result: { ok: false, code: 'unknown_session', reason, next } };
    });
  }

  return {
    cancel: open.end,
    async end() {
      open.end();
      await handles.end();
    },

    serverFor(asker) {
      const running = new Set<Promise<unknown>>();
      const server = new Server(serverInfo(), {
        capabilities,
        instructions,
        cacheHints: {
          'tools/list': { ttlMs: LIST_TTL_MS, cacheScope: 'private' },
          'server/discover': { ttlMs: DISCOVER_TTL_MS, cacheScope: 'public' },
        },
        requestState: { verify: readState },
      });
      const track = <T>(asked: Asked, work: Promise<T>): Promise<T> => {
        if (!isClientReported) onClient?.({ canAskPerson: canAskPerson(capabilitiesOf(asked)) });
        isClientReported = true;
        running.add(work);
        return work.finally(() => running.delete(work));
      };
      server.onerror = report;
      server.setRequestHandler('tools/list', (_, { mcpReq }) => track(mcpReq, list(asker)));
      server.setRequestHandler('tools/call', ({ params }, { mcpReq }) =>
        track(
          mcpReq,
          answering.traced(params.name, mcpReq, () => call(params, { asker, asked: mcpReq })),
        ),
      );
      answering.forward(server, asker.owner.user);
      return {
        server,
        async idle() {
          await Promise.allSettled(running);
        },
      };
    },

    watch(asker, onChange) {
      const look = async () => JSON.stringify(await startingTools(asker));
      let known: Promise<string | undefined> = look().catch(onUnknown);
      return router.onToolsChange(() => {
        known = known.then(async (before) => {
          const now = await look().catch(onUnknown);
          // A failed look counts as a change.
          if (now === undefined || now !== before) onChange();
          return now;
        });
      });
    },
  };

  function onUnknown(error: unknown): undefined {
    report(error);
  }
}

function comesBack(answer: OwnAnswer): boolean {
  if ('content' in answer) return answer.comesBack === true;
  return 'question' in answer || (!answer.result.ok && answer.result.approval !== undefined);
}

function withSession(answer: OwnAnswer, session: string): OwnAnswer {
  if ('content' in answer) return { content: { session, ...answer.content } };
  return 'result' in answer ? { result: { ...answer.result, session } } : answer;
}
