/**
 * Puts a LangChain agent behind the router. Each model call shows the tools that the session has enabled; every call of the
 * agent, of a shown tool or not, passes the gate. The agent has no tools itself: the router runs them.
 */

import { createMiddleware } from 'langchain';
import type { ListedTool } from '../../agents/contracts.js';
import type { AskOptions, Router } from '../../agents/router.js';
import { WinnowError } from '../../core/errors.js';
import { createGatedTool } from './answers.js';
import { type BoundTool, createMetaTools, isMetaName, isOwnTool, toShownTool } from './meta-tools.js';
import { askOf, openThread, routingContextSchema, routingStateSchema, type Thread } from './threads.js';

export interface RoutingMiddlewareOptions {
  router: Router;
  /**
   * For a call that needs approval: `refuse` answers the agent with the approval's id; `interrupt` pauses the run (the agent
   * needs a checkpointer) until the `approver` of its context resumes it with an `ApprovalResume`. Agents of LangChain's old
   * `version: 'v1'` repeat all calls of a step on resumption, and ask again for each that ran. Default: `refuse`.
   */
  onApproval?: 'refuse' | 'interrupt' | undefined;
  /** Names of the agent's own tools, which bypass the gate. An agent with other own tools is refused. Default: none. */
  ungated?: readonly string[] | undefined;
}

/**
 * For `createAgent({ model, middleware: [createRoutingMiddleware({ router })] })`. The context of a run names the user:
 * `{ context: { winnow: { user: 'ann' } } }`; the thread (or `winnow.session`) has the session. A run throws WinnowError
 * `store_failed`, `cancelled`, `not_found` for an unknown `winnow.session`, and `invalid_option` for tools of the agent that
 * `ungated` does not name; inside a step they are the `cause` of LangChain's MiddlewareError.
 * @example
 * const middleware = [createRoutingMiddleware({ router, onApproval: 'interrupt' })];
 */
export function createRoutingMiddleware(options: RoutingMiddlewareOptions) {
  const { router, onApproval = 'refuse' } = options;
  const ungated = new Set(options.ungated);
  return createMiddleware({
    name: 'WinnowRouting',
    contextSchema: routingContextSchema,
    stateSchema: routingStateSchema,

    async beforeAgent({ messages, _winnowThread: known }, { context, signal }) {
      return { _winnowThread: await openThread(router, { messages, known, context: context.winnow, signal }) };
    },

    async wrapModelCall(request, handler) {
      const { tools: own, state, runtime } = request;
      refuseOthers(own, ungated);
      const { session } = threadOf(state);
      const ask = askOf(runtime.context.winnow, runtime.signal);
      const enabled = (await listEnabled(router, session, ask)).filter(({ name }) => !ungated.has(name));
      const tools = [...own, ...createMetaTools(router, session, ask), ...enabled.map(toShownTool)];
      return handler({ ...request, tools });
    },

    async wrapToolCall(request, handler) {
      const { tool, toolCall: call, state, runtime } = request;
      if (tool !== undefined && ungated.has(call.name)) return handler(request);
      const sessionId = threadOf(state).session;
      const { winnow } = routingContextSchema.parse(runtime.context ?? {});
      const ask = (signal: AbortSignal | undefined) => askOf(winnow, signal);
      return handler({
        ...request,
        tool: createGatedTool({ router, sessionId, call, ask, onApproval, approver: winnow?.approver }),
      });
    },
  });
}

function threadOf({ _winnowThread: thread }: { _winnowThread?: Thread | undefined }): Thread {
  if (thread) return thread;
  throw new WinnowError('internal', 'The agent has no thread: its beforeAgent hook did not run.');
}

/** Empty if the session is over: calls then say so, and the next user message opens another session. */
async function listEnabled(router: Router, session: string, ask: AskOptions): Promise<readonly ListedTool[]> {
  try {
    const list = await router.list(session, { mode: 'enabled' }, ask);
    return list.ok ? list.tools.filter(({ name }) => !isMetaName(name)) : [];
  } catch (error) {
    if (error instanceof WinnowError && error.code === 'not_found') return [];
    throw error;
  }
}

/** A tool that bypasses the gate must be named explicitly; silently leaving it out would surprise the program. */
function refuseOthers(own: readonly BoundTool[], ungated: ReadonlySet<string>): void {
  const others = own.flatMap((tool) => (isOwnTool(tool) && !ungated.has(tool.name) ? [tool.name] : []));
  if (others.length === 0) return;
  const advice = 'put them into the catalogue of the router, or name them in "ungated" of createRoutingMiddleware';
  throw new WinnowError('invalid_option', `The agent has tools that pass no gate (${others.join(', ')}): ${advice}.`);
}
