/** One step of an agent over the model seam: the prompt, the answer under a schema, one repair. */

import { fittedSchemas } from '../../../core/catalog/schema/normalise.js';
import { secretNamesOf } from '../../../core/catalog/schema/paths.js';
import type { Tool } from '../../../core/catalog/tool.js';
import { type Completion, type Model, noUsage, type Usage } from '../../../core/model/model.js';
import { completeStructured, type Parsed } from '../../../core/model/structured.js';
import { renderType } from '../../../core/planning/render-tool.js';
import type { NamedPrompt } from '../../../core/prompts/prompts.js';
import { oneLine } from '../../../core/visible-text.js';
import { readStep, type Step } from './read-step.js';
import type { Conversation } from './render-conversation.js';
import { stepSchema } from './step-schema.js';

export interface StepParts {
  readonly model: Model;
  readonly prompt: NamedPrompt<'agent-step'>;
  readonly repair: NamedPrompt<'repair'>;
  readonly maxTokens: number;
}

export interface StepRequest {
  readonly conversation: Conversation;
  readonly tools: readonly Tool[];
  /** Whether the model may answer in place of a call. */
  readonly canAnswer: boolean;
  readonly signal?: AbortSignal | undefined;
}

export interface TakenStep {
  readonly parsed: Parsed<Step>;
  /** The last that was written. */
  readonly text: string;
  readonly finish: Completion['finish'];
  readonly usage: Usage;
}

/** What the model does wrong is a value. @throws WinnowError errors of the model */
export async function takeStep(parts: StepParts, request: StepRequest): Promise<TakenStep> {
  const { model, prompt, repair, maxTokens } = parts;
  const { conversation, tools, canAnswer, signal } = request;
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  const instructions = conversation.instructions && `${conversation.instructions}\n\n`;
  const values = { ...conversation, instructions, tools: tools.map(renderTool).join('\n') || 'none' };
  const about = { module: 'langchain/chat-model', promptName: prompt.name, promptHash: prompt.hash };
  const usage = noUsage();
  let last: Pick<Completion, 'text' | 'finish'> = { text: '', finish: 'stop' };
  const parsed = await completeStructured({
    model,
    repair,
    usage,
    parse(completion) {
      last = completion;
      return readStep(completion, { tools: byName, canAnswer });
    },
    request: {
      stage: 'planning',
      prompt: prompt.render(values),
      schema: { name: 'step', schema: stepSchema(tools, { canAnswer }) },
      maxTokens,
      signal,
      about: { ...about, variables: { ...values, tools: [...byName.keys()] }, secretNames: secretNamesOf(tools) },
    },
  });
  return { parsed, text: last.text, finish: last.finish, usage };
}

function renderTool(tool: Tool): string {
  const { input } = fittedSchemas(tool);
  const description = oneLine(tool.description);
  return `- ${tool.name} ${renderType(input, input)}${description ? `: ${description}` : ''}`;
}
