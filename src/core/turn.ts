/** One request in progress: the view of its caller, its time budget, and its usage so far. */
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Catalog } from './catalog/catalog.js';
import type { Rule } from './catalog/rule.js';
import { secretNamesOf } from './catalog/schema/secrets.js';
import { createScope, type ToolFilter, type View } from './catalog/scope.js';
import type { Tool } from './catalog/tool.js';
import { throwIfCancelled, toWinnowError, WinnowError } from './errors.js';
import { type Model, noUsage, withUsage } from './model/model.js';
import { type OptionsInput, resolveOptions } from './options.js';
import { parseOptions } from './parse.js';
import { unseenHistory } from './prompts/context.js';
import type { PromptPaths } from './prompts/prompts.js';
import { type PlanRequest, parseRequest, type Request } from './request.js';
import type { PlanResult, SelectedTool, Selection, SelectResult, TraceEvent } from './result.js';
import { createSchemaTokens, createViewTokens, totalTokens } from './selection/budget.js';
import type { Kept, Stage } from './selection/candidates.js';
import { readingsOf, uncut } from './set-apart.js';
import { createTrace } from './trace.js';

export interface CallOptions {
  /** Cancels the request; it then throws `cancelled`. */
  signal?: AbortSignal | undefined;
  /** Called with every trace event as it happens. A failure of it stops nothing; the trace records the first one. */
  onEvent?: ((event: TraceEvent) => void) | undefined;
  requestId?: string | undefined;
}

export interface PlannerParts {
  catalog: Catalog;
  model: Model;
  /** Model of planning. Default: `model`. */
  planningModel?: Model | undefined;
  options?: OptionsInput | undefined;
  /** Files that replace those in `prompts/`. */
  prompts?: PromptPaths | undefined;
  /** Removes tools from a caller's view, for example by policy. */
  filter?: ToolFilter | undefined;
  /** For ablations: stages of selection that replace `DEFAULT_STAGES`. */
  stages?: readonly Stage[] | undefined;
  /** Called at each request, so rules may change while the caches of the tools stay. Default: the rules of the catalogue. */
  rules?: (() => readonly Rule[]) | undefined;
}

export type Turns = ReturnType<typeof createTurns>;
export type Turn = ReturnType<Turns['begin']>;

/** What callers without types may forget. */
const neededSchema = z.object({
  catalog: z.custom((value) => Array.isArray(Object(value).tools), 'is missing: give the catalog of loadCatalog'),
  model: z.custom((value) => typeof Object(value).complete === 'function', 'is missing: give that of createModel'),
});

/** The state that all requests of a planner share, resolved once. @throws WinnowError `invalid_option` */
export function createTurns({ catalog, model, planningModel = model, ...parts }: PlannerParts) {
  parseOptions(neededSchema, { catalog, model }, 'planner');
  const options = resolveOptions(parts.options);
  const isDecided =
    options.planning === 'decide' || (options.planning === 'auto' && planningModel.preferredAnswer === 'rank');
  const viewOf = createScope(catalog, parts.filter);
  const rules = parts.rules ?? (() => catalog.rules);
  const schemaTokens = createSchemaTokens(planningModel);
  const viewTokens = createViewTokens(schemaTokens);
  return { options, isDecided, viewOf, begin, take };

  /** Parses one request and runs `path` on it. @throws WinnowError `invalid_request`, `cancelled` */
  async function take<T extends PlanResult | SelectResult>(
    input: PlanRequest,
    call: CallOptions | undefined,
    path: (turn: Turn) => Promise<T>,
  ): Promise<T> {
    const turn = begin(parseRequest(input), call);
    return turn.inTime(path(turn));
  }

  function begin(request: Request, call: CallOptions = {}) {
    throwIfCancelled(call.signal);
    const view = viewOf(request);
    const trace = createTrace(call.onEvent);
    const timeout = AbortSignal.timeout(options.timeoutMs);
    const signal = call.signal ? AbortSignal.any([call.signal, timeout]) : timeout;
    const usage = { selection: noUsage(), planning: noUsage() };
    // The note names no total: it would count the tools of other users.
    const { session } = request;
    trace.add('scope', `${view.tools.length} tools are visible`, session === undefined ? {} : { session });
    const unseen = unseenHistory(request, options);
    if (unseen !== undefined) trace.add('scope', unseen);
    const [asked, ...otherwise] = isDecided ? readingsOf(request.message) : [uncut(request.message)];
    const turn = {
      request,
      asked,
      otherwise,
      view,
      rules: rules(),
      trace,
      signal,
      usage,
      facts: { requestId: call.requestId ?? randomUUID(), session, secretNames: secretNamesOf(view.tools) },
      earlier: [] as readonly Tool[],
      /** Waits for the work. An error distinguishes the time budget from the caller's own signal and carries the usage. */
      inTime: async <T>(work: Promise<T>): Promise<T> => {
        try {
          return await work;
        } catch (error) {
          if (!timeout.aborted || call.signal?.aborted) throw withUsage(toWinnowError(error), usage);
          const limit = `${options.timeoutMs} ms (option timeoutMs)`;
          const message = `The request took longer than ${limit}.`;
          throw new WinnowError('model_timeout', message, { cause: error, details: { usage } });
        }
      },
      rest: (selection: Selection) =>
        viewOf({ ...request, deny: [...(request.deny ?? []), ...selection.tools.map((tool) => tool.name)] }),
      /** The same turn for a further round: it asks for the missing tool, with the request as context. */
      lookingFor: (need: string, kept: Kept) => {
        const { require: _, ...rest } = request;
        const maxTools = (request.maxTools ?? options.maxTools) - kept.tools.length;
        const message = `${request.message} (${need})`;
        const text = `${turn.asked.text} (${need})`;
        return {
          ...turn,
          request: { ...rest, message, maxTools },
          asked: { ...turn.asked, text },
          earlier: toolsOf(kept.tools, view),
        };
      },
      reportOf: (selection: Selection) => ({
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
    return turn;
  }
}

export function toolsOf(selected: readonly SelectedTool[], { byName }: View): Tool[] {
  return selected.flatMap(({ name }) => byName.get(name) ?? []);
}
