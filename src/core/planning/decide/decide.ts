/**
 * A plan by deciding: what is asked for, a tool for each ask, the producers on the way, and each argument from one source.
 * Every decision is a choice among what exists, and its probability is known.
 */

import type { Tool } from '../../catalog/tool.js';
import { oneLine } from '../../visible-text.js';
import type { Written } from '../write.js';
import { readAsks } from './asks.js';
import { chooseTools } from './choose-tools.js';
import { createRead, createReadUnasked, type DecideParts } from './read.js';
import { decideSteps } from './steps.js';

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
  const readUnasked = createReadUnasked(parts, read);
  const earlier = (request.history ?? []).map(({ content }) => content);
  const asks = await readAsks(message, { context, read, earlier });
  trace.add('planning', asks.length === 1 ? 'one thing is asked for' : `${asks.length} things are asked for`, { asks });
  const chosen = await chooseTools(asks, { tools, message, read, readUnasked, ...parts });
  trace.add('planning', 'a tool for each ask', {
    asks: chosen.map(({ ask, tool, ranked }) => ({
      ask,
      tool: tool?.name,
      ranked: ranked.map(({ tool: { name }, ...one }) => ({ name, ...one })),
    })),
  });
  return decideSteps(chosen, { tools, message, read, readUnasked, ...parts });
}
