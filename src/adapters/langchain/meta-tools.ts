/** tool_search, tool_enable and tool_disable as LangChain tools of one session. */
import { Runnable } from '@langchain/core/runnables';
import { type ClientTool, DynamicStructuredTool, type ServerTool } from '@langchain/core/tools';
import { z } from 'zod';
import type { ListedTool } from '../../agents/contracts.js';
import { clientName, META_TOOLS, type MetaToolName } from '../../agents/meta-tools.js';
import type { AskOptions, Router } from '../../agents/router.js';
import { normaliseArguments } from '../../core/catalog/schema/normalise.js';
import type { JsonSchema } from '../../core/catalog/tool.js';
import { WinnowError } from '../../core/errors.js';
import { oncePer } from '../../core/kept.js';
import { parseInput } from '../../core/parse.js';

const META_NAMES = ['tool_search', 'tool_enable', 'tool_disable'] as const satisfies readonly MetaToolName[];

/**
 * The three tools by which an agent finds, enables and disables others; their results are the JSON of
 * `router.search`, `router.enable` and `router.disable`.
 * @param sessionId of `router.createSession`
 * @param ask the caller, and a signal in addition to that of each run
 * @throws (when called) WinnowError `invalid_request`, `not_found`, `store_failed`, `cancelled`
 * @example
 * const tools = createMetaTools(router, session);
 */
export function createMetaTools(router: Router, sessionId: string, ask: AskOptions = {}): DynamicStructuredTool[] {
  return META_NAMES.map((name) => {
    const { description, input } = META_TOOLS[name];
    // Fields with a default are optional; LangChain's own conversion would require them.
    const schema = z.toJSONSchema(input, { io: 'input' });
    const func: DynamicStructuredTool['func'] = async (given, _, config) =>
      JSON.stringify(await callMetaTool(name, given, { router, sessionId, ask: withSignal(ask, config?.signal) }));
    return new DynamicStructuredTool({ name, description, schema, func });
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

export type BoundTool = ClientTool | ServerTool;

const META: ReadonlySet<string> = new Set(META_NAMES);
const fitted = oncePer((schema: JsonSchema) => normaliseArguments(schema).schema);

/** A tool that is only shown to the model, with a name and schema that providers accept. The gate runs its calls. */
export function toShownTool({ name, description, inputSchema }: ListedTool): DynamicStructuredTool {
  const func = () => Promise.reject(new WinnowError('internal', `${name} was run beside the gate.`));
  return new DynamicStructuredTool({ name: shownName(name), description, schema: fitted(inputSchema), func });
}

/** The tool's own name, or a replacement if providers would refuse that. */
function shownName(name: string): string {
  return clientName(name, META);
}

/** @returns the tool's name in the catalogue; a name that no enabled tool is shown under stays unchanged */
export function ownName(shown: string, listed: readonly Pick<ListedTool, 'name'>[]): string {
  return listed.find(({ name }) => shownName(name) === shown)?.name ?? shown;
}

/** Whether LangChain runs the tool. Tools of the provider are only data, which LangChain passes unchanged. */
export function isOwnTool(tool: BoundTool): tool is ClientTool & { name: string } {
  return Runnable.isRunnable(tool) && typeof tool.name === 'string';
}
