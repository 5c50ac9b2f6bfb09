/** tool_search, tool_enable and tool_disable as LangChain tools of one session. */
import { DynamicStructuredTool } from '@langchain/core/tools';
import { z } from 'zod';
import { META_TOOLS, type MetaToolName } from '../../agents/meta-tools.js';
import type { AskOptions, Router } from '../../agents/router.js';
import { parseInput } from '../../core/parse.js';

export const META_NAMES = ['tool_search', 'tool_enable', 'tool_disable'] as const satisfies readonly MetaToolName[];

/**
 * The three tools by which an agent finds, enables and disables others; their results are the JSON of
 * `router.search`, `router.enable` and `router.disable`.
 * @param sessionId of `router.createSession`
 * @param ask who asks, and a signal besides that of each run
 * @throws (when called) WinnowError `invalid_request`, `not_found`, `store_failed`, `cancelled`
 * @example
 * const tools = createMetaTools(router, session);
 */
export function createMetaTools(router: Router, sessionId: string, ask: AskOptions = {}): DynamicStructuredTool[] {
  return META_NAMES.map((name) => {
    const { description, input } = META_TOOLS[name];
    // What has a default may be left out; LangChain's own conversion would require it.
    const schema = z.toJSONSchema(input, { io: 'input' });
    const run = async (given: unknown, signal: AbortSignal | undefined): Promise<string> =>
      JSON.stringify(await callMetaTool(name, given, { router, sessionId, ask: withSignal(ask, signal) }));
    return new DynamicStructuredTool({
      name,
      description,
      schema,
      func: (given, _, config) => run(given, config?.signal),
    });
  });
}

export function isMetaName(name: string): name is MetaToolName {
  return META_NAMES.some((one) => one === name);
}

/** @throws WinnowError `invalid_request`, `not_found`, `store_failed`, `cancelled` */
export function callMetaTool(
  name: MetaToolName,
  given: unknown,
  { router, sessionId, ask }: { router: Router; sessionId: string; ask: AskOptions },
): Promise<object> {
  switch (name) {
    case 'tool_search':
      return router.search(sessionId, parseInput(META_TOOLS.tool_search.input, given), ask);
    case 'tool_enable':
      return router.enable(sessionId, parseInput(META_TOOLS.tool_enable.input, given), ask);
    case 'tool_disable':
      return router.disable(sessionId, parseInput(META_TOOLS.tool_disable.input, given), ask);
  }
}

function withSignal(ask: AskOptions, signal: AbortSignal | undefined): AskOptions {
  const signals = [ask.signal, signal].filter((one) => one !== undefined);
  return signals.length > 1 ? { ...ask, signal: AbortSignal.any(signals) } : { ...ask, signal: signals[0] };
}
