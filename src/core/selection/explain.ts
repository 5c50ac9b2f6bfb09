/** The reason for a choice by rank, in one sentence, only where it is asked for: it costs as much as the ranking. */
import { oneLine } from '../catalog/summary.js';
import { toWinnowError } from '../errors.js';
import { addUsage, type CallAbout, type Model, type Prompt, type Usage } from '../model/model.js';
import { spentUsage } from '../model/structured.js';
import type { PromptTemplate } from '../prompts/prompt-template.js';
import type { Trace } from '../trace.js';
import type { Answer } from './answer.js';

export type ExplainPrompt = PromptTemplate<'system' | 'user' | 'names'>;

export interface Explanation {
  model: Model;
  /** The prompt of the choice; its stable part is read already. */
  chosenWith: Prompt;
  explain: ExplainPrompt;
  about: CallAbout;
  usage: Usage;
  trace: Trace;
  signal: AbortSignal | undefined;
}

const MAX_TOKENS = 80;

/** The answer with its reason; without one where the model fails, and the trace says so. */
export async function explainChoice(answer: Answer, parts: Explanation): Promise<Answer> {
  const { model, chosenWith, explain, about, usage, trace, signal } = parts;
  const chosen = answer.named.slice(0, answer.chosen).map(({ tool }) => tool.name);
  if (chosen.length === 0) return answer;
  try {
    const completion = await model.complete({
      stage: 'selection',
      prompt: explain.render({ ...chosenWith, names: chosen.join(', ') }),
      maxTokens: MAX_TOKENS,
      signal,
      about: { ...about, module: 'selection/explain', promptName: explain.name, promptHash: explain.hash },
    });
    addUsage(usage, completion.usage);
    return { ...answer, reason: oneLine(completion.text) };
  } catch (error) {
    addUsage(usage, spentUsage(error));
    const failure = toWinnowError(error);
    if (failure.code === 'cancelled') throw failure;
    trace.add('selection', `no reason was written: ${failure.message}`);
    return answer;
  }
}
