/** Selection as the planner calls it: what all requests share, made once. */
import type { View } from '../catalog/scope.js';
import { oneLine } from '../catalog/summary.js';
import { withSpan } from '../logging/spans.js';
import { createToolTokens } from '../model/count-tokens.js';
import type { Model } from '../model/model.js';
import { renderTool } from '../planning/render-tool.js';
import type { Prompts } from '../prompts/prompts.js';
import type { Selection } from '../result.js';
import type { Turn, Turns } from '../turn.js';
import { createViewTokens } from './schema-tokens.js';
import { select } from './select.js';
import { renderContext } from './user-part.js';

interface Models {
  readonly model: Model;
  readonly planningModel?: Model | undefined;
}

export function createSelectionStage(
  { model, planningModel = model }: Models,
  { prompts, turns: { options } }: { prompts: Prompts; turns: Turns },
): (turn: Turn, view: View) => Promise<Selection> {
  // What planning shows of a tool is what it costs: a huge schema is shortened there.
  const schemaTokens = createToolTokens(renderTool)(planningModel);
  const instructions = prompts.plan.render({ tools: '', context: '', today: '', locale: '', message: '' });
  const parts = {
    model,
    options,
    prompt: prompts.select,
    repair: prompts.repair,
    explain: prompts.explain,
    schemaTokens,
    allTokens: createViewTokens(schemaTokens),
    planningLimits: planningModel.limits,
    planningFrame: (request: Turn['request']) =>
      planningModel.countTokens(
        [instructions.system, instructions.user, renderContext(request, options), oneLine(request.message)].join('\n'),
      ),
  };
  return ({ usage, ...turn }, view) =>
    withSpan('winnow.select', { 'winnow.tools': view.tools.length }, () =>
      select({ ...turn, view, usage: usage.selection }, parts),
    );
}
