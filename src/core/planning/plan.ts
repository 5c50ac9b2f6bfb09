/** Stage two: a plan with the full schemas of the chosen tools, by deciding or by writing. */
import { shownTexts } from '../catalog/shown.js';
import { WinnowError } from '../errors.js';
import { renderPhrase } from '../language.js';
import { renderContext } from '../prompts/context.js';
import type { Prompts } from '../prompts/prompts.js';
import type { Message, Request } from '../request.js';
import type { SelectedTool, Selection } from '../result.js';
import type { SelectionStage } from '../selection/select.js';
import { withSpan } from '../spans.js';
import { type PlannerParts, type Turn, type Turns, toolsOf } from '../turn.js';
import { decidePlan } from './decide/decide.js';
import { type Written, writePlan } from './write.js';

/** With the selection, and the tools that planning added to it. */
type Planned = Exclude<Written, { kind: 'invalid' }> & { selection: Selection };

interface Stage {
  readonly selection: Selection;
  readonly isRoundLeft: boolean;
}

const NO_TOOLS = 'There are no tools: the catalogue is empty, or all of it is hidden from this request.';

export type PlanningStage = (turn: Turn, stage: Stage) => Promise<Planned>;

/** @throws WinnowError `plan_invalid`, or an error of the model */
export function createPlanningStage(
  { model: selecting, planningModel: model = selecting }: PlannerParts,
  { prompts, turns: { options, isDecided }, select }: { prompts: Prompts; turns: Turns; select: SelectionStage },
): PlanningStage {
  return async (turn, { selection, isRoundLeft }) => {
    const { view, request, asked, trace, usage, facts, signal } = turn;
    if (view.tools.length === 0) return { kind: 'unplannable', reason: NO_TOOLS, selection };
    const tools = toolsOf(isDecided ? likeliestFirst(selection) : selection.tools, view);
    trace.add('planning', `planning with ${tools.length} tools`, { tools: tools.map(({ name }) => name) });
    const areMoreLeft = selection.mode === 'none' ? selection.leftOut > 0 : view.tools.length > tools.length;
    const canNeedTools = isRoundLeft && areMoreLeft;
    const context = renderContext(request, options);
    const about = { model, prompts, request, context, trace, facts, signal };
    const contextAfter = (asks: readonly string[]) => renderContext(after(asks, request), options);
    const orderFor = async (ask: string, before: readonly string[]) => {
      const one = { request: { ...after(before, request), message: ask }, asked: { ...asked, text: ask } };
      const found = await select({ ...turn, ...one }, view);
      return found.mode === 'selected' ? toolsOf(likeliestFirst(found), view) : [];
    };
    const shared = { ...about, usage: usage.planning, defaults: options.defaults };
    const written = await withSpan('winnow.plan', { 'winnow.tools': tools.length }, () =>
      isDecided
        ? decidePlan(tools, {
            ...shared,
            view,
            asked,
            isOrdered: selection.mode === 'selected',
            orderFor,
            contextAfter,
          })
        : writePlan(tools, { ...shared, canNeedTools, maxTokens: options.planTokens }),
    );
    if (written.kind === 'invalid') throw invalidPlan(written, selection);
    // Without constrained decoding, a model may ask for tools although no round is left.
    if (written.kind === 'needTools' && !canNeedTools)
      return { kind: 'unplannable', reason: `A tool is missing: ${written.needTools}`, selection };
    if (written.kind === 'plan' && (written.confidence ?? 1) < options.clarifyBelow) {
      trace.add('planning', `confidence ${written.confidence} is below ${options.clarifyBelow}: asked back`);
      const what = written.steps.map(({ tool: name }) => {
        const tool = view.byName.get(name);
        return (tool && shownTexts(tool).title) ?? name;
      });
      return {
        kind: 'clarification',
        question: renderPhrase('unsure', request, { what: what.join(', ') }),
        missing: [],
        unserved: written.unserved,
        selection,
      };
    }
    if (written.kind !== 'plan') return { ...written, selection };
    const { added = [], ...plan } = written;
    return { ...plan, selection: { ...selection, tools: [...selection.tools, ...added] } };
  };
}

/** The request as its later asks see it: the asks before them are earlier messages. */
function after(asks: readonly string[], request: Request): Request {
  const said = asks.map((content): Message => ({ role: 'user', content }));
  return { ...request, history: [...(request.history ?? []), ...said] };
}

/**
 * The tools that the model chose, their producers, and the fill. Of 80 development requests the tool of the last step is among
 * the first three for 69; in the order of use for 63.
 */
function likeliestFirst({ tools }: Selection): SelectedTool[] {
  const groupOf = ({ via, fill }: SelectedTool) => (fill ? 2 : via === 'producer' ? 1 : 0);
  return tools.toSorted((one, other) => groupOf(one) - groupOf(other));
}

function invalidPlan({ issues, steps }: Extract<Written, { kind: 'invalid' }>, selection: Selection): WinnowError {
  const details = { tools: selection.tools.map(({ name }) => name), selection, steps };
  return new WinnowError('plan_invalid', 'There is no valid plan, also after the repair.', { issues, details });
}
