/**
 * A plan by deciding: what is asked for, a tool for each ask, the producers on the way, and each argument from one source.
 * Every decision is a choice among what exists, and its probability is known.
 */
import type { View } from '../../catalog/scope.js';
import { oneLine } from '../../catalog/summary.js';
import type { Tool } from '../../catalog/tool.js';
import {
  addUsage,
  type CallAbout,
  type Model,
  type Prompt,
  type RequestFacts,
  type TokenReader,
  type Usage,
} from '../../model/model.js';
import type { Prompts } from '../../prompts/prompts.js';
import type { Request } from '../../request.js';
import { openedReader } from '../../selection/opened-reader.js';
import type { Trace } from '../../trace.js';
import type { Written } from '../read-plan.js';
import { readAsks } from './asks.js';
import { chooseTools } from './choose-tools.js';
import { decideSteps } from './steps.js';

export interface DecideParts {
  readonly model: Model;
  readonly prompts: Prompts;
  readonly view: View;
  readonly request: Request;
  /** Lines before the message; see `renderContext`. */
  readonly context: string;
  /** How likely selection's model named each tool, between 0 and 1, where it says. */
  readonly probabilities: ReadonlyMap<string, number>;
  /** Whether arguments that were left out are written down where the tool has a default for them. */
  readonly defaults: boolean;
  readonly usage: Usage;
  readonly trace: Trace;
  /** For the call log. */
  readonly facts: RequestFacts;
  readonly signal: AbortSignal | undefined;
}

/** One reading of probabilities: a prompt, what the answer begins with, and what is made of it. */
export type Read = <T>(
  prompt: keyof Prompts,
  values: Readonly<Record<string, string>>,
  opening: string,
  use: (reader: TokenReader) => Promise<T>,
) => Promise<T>;

/**
 * Decides a plan among the tools that selection hands on.
 *
 * @returns `unplannable` where no tool serves any ask; `clarification` where a required argument has no source
 * @throws WinnowError errors of the model
 */
export async function decidePlan(tools: readonly Tool[], parts: DecideParts): Promise<Written> {
  const { request, context, trace } = parts;
  const message = oneLine(request.message);
  const read = createRead(parts);
  const asks = await readAsks(message, { context, read, hasHistory: (request.history ?? []).length > 0 });
  trace.add('planning', asks.length === 1 ? 'one thing is asked for' : `${asks.length} things are asked for`, { asks });
  const chosen = await chooseTools(asks, { tools, message, read, ...parts });
  trace.add('planning', 'a tool for each ask', {
    asks: chosen.map(({ ask, tool, ranked }) => ({ ask, tool: tool?.name, ranked })),
  });
  return decideSteps(chosen, { message, read, ...parts });
}

function createRead({ model, prompts, usage, facts, signal }: DecideParts): Read {
  return async (name, values, opening, use) => {
    const template: { name: string; hash: string; render(values: Readonly<Record<string, string>>): Prompt } =
      prompts[name];
    const about: CallAbout = {
      module: 'planning/decide',
      promptName: template.name,
      promptHash: template.hash,
      variables: values,
      ...facts,
    };
    const opened = model.openReader?.({ prompt: template.render(values), opening, stage: 'planning', signal, about });
    if (!opened) throw new TypeError(`The model ${model.id} gives no next-token probabilities.`);
    const reader = await openedReader(opened, usage);
    try {
      return await use(reader);
    } finally {
      addUsage(usage, reader.usage());
      await reader.close();
    }
  };
}
