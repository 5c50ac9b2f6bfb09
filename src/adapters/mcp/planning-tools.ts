/** The planner as tools. It sees only what the session may find. */
import { z } from 'zod';
import type { Router } from '../../agents/router.js';
import type { CallOptions, Planner } from '../../core/planner.js';
import { type PlanRequest, requestSchema } from '../../core/request.js';
import {
  clarificationSchema,
  planSchema,
  selectionSchema,
  type TraceEvent,
  unplannableSchema,
} from '../../core/result.js';
import { publicEvent, publicSelection } from '../http/public-answer.js';
import { type OwnAnswer, type OwnTool, ownTool, type ToolCall } from './own-tool.js';

export type PlanningPlanner = Pick<Planner, 'plan' | 'select'>;

/** Only what a model can know, since it reads each field with every list of tools. Never the user. */
const inputSchema = requestSchema.pick({
  message: true,
  entities: true,
  require: true,
  deny: true,
  maxTools: true,
  today: true,
  timeZone: true,
});
/** Not for the model that reads the answer; the logs have them. */
const OMITTED = { usage: true, trace: true } as const;
const planAnswerSchema = z.discriminatedUnion('kind', [
  planSchema.omit(OMITTED),
  clarificationSchema.omit(OMITTED),
  unplannableSchema.omit(OMITTED),
]);
const HINTS = { readOnlyHint: true, openWorldHint: false } as const;

/** @param canRun whether there is a tool `run` too. Default: false */
export function planningTools(router: Router, planner: PlanningPlanner, canRun = false): OwnTool[] {
  const next = canRun ? 'run runs the plan unchanged.' : 'enable the tools with tool_enable and call them.';
  return [
    ownTool({
      name: 'plan',
      title: 'Write a plan',
      description:
        'Turns a request into checked steps over the tools of this server: which tools with which arguments, in which ' +
        `order; "\${s1.field}" stands for a field of the result of step s1. It runs nothing: ${next} May take a while.`,
      input: inputSchema,
      output: planAnswerSchema,
      hints: HINTS,
      handle: (request, call) =>
        within(request, call, async (...asked) => {
          const { usage: _, trace: _trace, ...result } = await planner.plan(...asked);
          return { ...result, selection: publicSelection(result.selection) };
        }),
    }),
    ownTool({
      name: 'select',
      title: 'Choose tools',
      description:
        'Chooses the tools that a request needs, in the order of their use, by a language model and not by words alone. ' +
        'Slower than tool_search; enable those you want with tool_enable.',
      input: inputSchema,
      output: selectionSchema,
      hints: HINTS,
      handle: (request, call) =>
        within(request, call, async (...asked) => {
          const { usage: _, trace: _trace, ...selection } = await planner.select(...asked);
          return publicSelection(selection);
        }),
    }),
  ];

  async function within(
    request: z.output<typeof inputSchema>,
    { session, caller, signal, onProgress }: ToolCall,
    work: (request: PlanRequest, call: CallOptions) => Promise<object>,
  ): Promise<OwnAnswer> {
    const list = await router.list(session, { mode: 'classic' }, { signal, caller });
    if (!list.ok) return { result: list };
    const { user } = await router.session(session);
    const allow = list.tools.map(({ name }) => name);
    const onEvent = (event: TraceEvent) => onProgress(renderEvent(publicEvent(event)));
    const owned = { ...request, allow, ...(user === undefined ? {} : { user }) };
    return { content: await work(owned, { signal, onEvent }) };
  }
}

function renderEvent({ stage, note }: TraceEvent): string {
  return `${stage}: ${note}`;
}
