/** What the planning prompt takes beside the tools: its instructions, counted once, and what the request says. */
import { oneLine } from '../catalog/summary.js';
import type { Model } from '../model/model.js';
import type { PlanPrompt } from './write-plan.js';

const EMPTY = { tools: '', further: '', context: '', awaited: '', likely: '', today: '', locale: '', message: '' };

/** In tokens of the model that reads it. `context`: lines before the message; see `renderContext`. */
export function createFrameTokens(
  model: Model,
  prompt: PlanPrompt,
): (request: { context: string; message: string }) => number {
  let instructions: number | undefined;
  const countInstructions = () => {
    const { system, user } = prompt.render(EMPTY);
    return model.countTokens(system) + model.countTokens(user);
  };
  return ({ context, message }) => {
    instructions ??= countInstructions();
    return instructions + model.countTokens(context + oneLine(message));
  };
}
