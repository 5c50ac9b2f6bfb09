/** Plans by writing, for any model server: the schemas as compact types, one structured answer, checked, repaired once. */
import { oneLine } from '../catalog/summary.js';
import type { Tool } from '../catalog/tool.js';
import { languageOf } from '../language.js';
import type { Model, RequestFacts, Usage } from '../model/model.js';
import { completeStructured, type Parsed } from '../model/structured.js';
import type { NamedPrompt } from '../prompts/prompts.js';
import type { Request } from '../request.js';
import { groundSteps } from './ground.js';
import { planAnswerSchema } from './plan-schema.js';
import { readPlan, type Written } from './read-plan.js';
import { renderTools } from './render-tool.js';
import { renderToday } from './today.js';

export interface WriteQuestion {
  model: Model;
  prompt: NamedPrompt<'plan-steps'>;
  repair: NamedPrompt<'repair'>;
  request: Request;
  /** Lines before the message; see `renderContext`. */
  context: string;
  /** Whether the model may ask for tools that it was not shown. */
  canNeedTools: boolean;
  /** Whether arguments that were left out are written down where the tool has a default for them. */
  defaults: boolean;
  maxTokens: number;
  /** Counts every attempt. */
  usage: Usage;
  /** For the call log. */
  facts: RequestFacts;
  signal: AbortSignal | undefined;
  onRepair(issues: readonly string[]): void;
}

/**
 * A valid first answer is the plan: nothing asks for another one. An answer that can't be used is repaired once, with all
 * its problems listed; what is wrong after that is a value. Errors of the server go through.
 */
export async function writePlan(tools: readonly Tool[], question: WriteQuestion): Promise<Parsed<Written>> {
  const { model, prompt, repair, request, context, canNeedTools, defaults, maxTokens, usage, facts, signal } = question;
  const values = {
    tools: renderTools(tools),
    context,
    today: renderToday(request),
    locale: request.locale ?? languageOf(request),
    message: oneLine(request.message),
  };
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  const answer = await completeStructured({
    model,
    repair,
    usage,
    onRepair: question.onRepair,
    parse: (completion) => readPlan(completion, { tools: byName, message: values.message, defaults }),
    request: {
      stage: 'planning',
      prompt: prompt.render(values),
      schema: { name: 'plan', schema: planAnswerSchema(tools, { canNeedTools }) },
      maxTokens,
      signal,
      about: {
        module: 'planning/write',
        promptName: prompt.name,
        promptHash: prompt.hash,
        variables: { ...values, tools: [...byName.keys()] },
        ...facts,
      },
    },
  });
  if (!answer.ok || answer.value.kind !== 'plan') return answer;
  return {
    ok: true,
    value: { ...answer.value, steps: await groundSteps(answer.value.steps, { tools: byName, request }) },
  };
}
