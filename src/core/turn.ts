/** One request under way: what its caller sees, how long it may take, and what it has spent. */
import { randomUUID } from 'node:crypto';
import type { Rule } from './catalog/rule.js';
import type { ScopeRequest, View } from './catalog/scope.js';
import { secretNamesOf } from './catalog/secret-arguments.js';
import type { Tool } from './catalog/tool.js';
import { throwIfCancelled, WinnowError } from './errors.js';
import { noUsage } from './model/model.js';
import type { Options } from './options.js';
import { type PlanRequest, parseRequest, type Request } from './request.js';
import type { PlanResult, SelectedTool, Selection, SelectResult, TraceEvent } from './result.js';
import { totalTokens } from './selection/budget.js';
import { unseenHistory } from './selection/user-part.js';
import { createTrace } from './trace.js';

export interface CallOptions {
  /** Cancels the request; it then throws `cancelled`. */
  signal?: AbortSignal | undefined;
  /** Told of every event of the trace as it happens. A failure of its own stops nothing: the trace tells of the first. */
  onEvent?: ((event: TraceEvent) => void) | undefined;
  requestId?: string | undefined;
}

export interface TurnParts {
  viewOf: (request: ScopeRequest) => View;
  rules: () => readonly Rule[];
  options: Options;
  /** Of a tool's full schema. */
  schemaTokens: (tool: Tool) => number;
  /** Of all schemas of a view. */
  viewTokens: (view: View) => number;
}

export type Turn = ReturnType<typeof beginTurn>;

/** The path of one request; however it ends, whoever holds back its lines of the call log is told. */
export async function takeTurn<T extends PlanResult | SelectResult>(
  parts: TurnParts,
  { input, call = {} }: { input: PlanRequest; call: CallOptions | undefined },
  path: (turn: Turn) => Promise<T>,
): Promise<T> {
  let end: (isPlan: boolean) => void = () => {};
  const ended = new Promise<boolean>((resolve) => {
    end = resolve;
  });
  try {
    const result = await path(beginTurn(parts, { request: parseRequest(input), call, ended }));
    end('kind' in result && result.kind === 'plan');
    return result;
  } finally {
    end(false);
  }
}

interface Beginning {
  request: Request;
  call: CallOptions;
  ended: Promise<boolean>;
}

function beginTurn(
  { viewOf, rules, options, schemaTokens, viewTokens }: TurnParts,
  { request, call, ended }: Beginning,
) {
  throwIfCancelled(call.signal);
  const view = viewOf(request);
  const trace = createTrace(call.onEvent);
  const timeout = AbortSignal.timeout(options.timeoutMs);
  const signal = call.signal ? AbortSignal.any([call.signal, timeout]) : timeout;
  const usage = { selection: noUsage(), planning: noUsage() };
  // Not "of how many": the rest would count the tools of other users.
  const { session } = request;
  trace.add('scope', `${view.tools.length} tools are visible`, session === undefined ? {} : { session });
  const unseen = unseenHistory(request, options);
  if (unseen !== undefined) trace.add('scope', unseen);
  return {
    request,
    view,
    rules: rules(),
    trace,
    signal,
    usage,
    facts: { requestId: call.requestId ?? randomUUID(), session, secretNames: secretNamesOf(view.tools), ended },
    /** The work, with its end by the budget of time told apart from the caller's own. */
    inTime: async <T>(work: Promise<T>): Promise<T> => {
      try {
        return await work;
      } catch (error) {
        if (!timeout.aborted || call.signal?.aborted) throw error;
        const limit = `${options.timeoutMs} ms (option timeoutMs)`;
        throw new WinnowError('model_timeout', `The request took longer than ${limit}.`, { cause: error });
      }
    },
    rest: (selection: Selection) =>
      viewOf({ ...request, deny: [...(request.deny ?? []), ...selection.tools.map((tool) => tool.name)] }),
    /** What every result tells of the way to it. */
    told: (selection: Selection) => ({
      usage: {
        ...usage,
        schemaTokens: {
          all: viewTokens(view),
          loaded: totalTokens(toolsOf(selection.tools, view), schemaTokens),
        },
        milliseconds: trace.milliseconds(),
      },
      trace: trace.events(),
    }),
  };
}

export function toolsOf(selected: readonly SelectedTool[], { byName }: View): Tool[] {
  return selected.flatMap(({ name }) => byName.get(name) ?? []);
}
