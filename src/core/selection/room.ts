/** What of a context is free for tools, beside the request, the answer and a repair of it. */
import { oneLine } from '../catalog/summary.js';
import type { Request } from '../request.js';
import { answerTokens } from './list-answer.js';
import { answerWay, type SelectionCall, type SelectionParts } from './selection-call.js';
import { renderContext } from './user-part.js';

/** Of a context, at most. */
const TOOLS_SHARE = 0.6;
/** Of a context, kept free for the answer; less where no answer is as long. */
const ANSWER_SHARE = 0.25;
/** A reader of probabilities writes a name at most. */
const RANK_TOKENS = 64;

type PlanningParts = Pick<SelectionParts, 'planningLimits' | 'planningFrame' | 'options'>;
type RoomCall = Pick<SelectionCall, 'request' | 'taken'>;

/** Tokens of schemas that the planning model can be shown. */
export function planningRoom(parts: PlanningParts, { request, taken = 0 }: RoomCall): number {
  const { contextTokens } = parts.planningLimits;
  const around = parts.planningFrame(request) + answerShare(contextTokens, parts.options.planTokens);
  return Math.max(0, Math.floor(Math.min(contextTokens * TOOLS_SHARE, contextTokens - around)) - taken);
}

/** The budget of the options, less what an earlier round took, and no more than there is room for. */
export function schemaBudget(parts: PlanningParts, call: RoomCall): number {
  return Math.max(0, Math.min(parts.options.schemaTokens - (call.taken ?? 0), planningRoom(parts, call)));
}

/**
 * Tokens of summaries that the selecting model can be shown. In tenths of its context, so that requests of about the same
 * length see the same summaries.
 */
export function summaryRoom(
  parts: Pick<SelectionParts, 'model' | 'options' | 'prompt'>,
  { request }: RoomCall,
): number {
  const { model, options } = parts;
  const { contextTokens } = model.limits;
  const longest = answerWay(parts) === 'rank' ? RANK_TOKENS : answerTokens(request.maxTools ?? options.maxTools);
  const around = selectionFrame(parts, request) + answerShare(contextTokens, longest);
  const tenths = Math.floor((10 * (contextTokens - around)) / contextTokens);
  return Math.floor((contextTokens * Math.max(1, Math.min(10 * TOOLS_SHARE, tenths))) / 10);
}

function answerShare(contextTokens: number, longest: number): number {
  return Math.min(longest, contextTokens * ANSWER_SHARE);
}

/** Tokens of the prompt without the summaries. */
function selectionFrame({ model, options, prompt }: Parameters<typeof summaryRoom>[0], request: Request): number {
  const said = { context: renderContext(request, options), message: oneLine(request.message) };
  const { system, user } = prompt.render({ none: '', summaries: '', ...said });
  return model.countTokens(system) + model.countTokens(user);
}
