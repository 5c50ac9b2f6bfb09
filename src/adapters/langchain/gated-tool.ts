/** Whatever an agent calls, by whatever name: a LangChain tool that asks the router and knows nothing itself. */
import type { ToolMessage } from '@langchain/core/messages';
import { DynamicStructuredTool } from '@langchain/core/tools';
import type { CallResult } from '../../agents/contracts.js';
import type { AskOptions, Router } from '../../agents/router.js';
import { type NamedCall, refusalMessage, refusalOf, toToolMessage } from './answers.js';
import { type Approver, callWithApproval } from './approval-interrupt.js';
import { callMetaTool, isMetaName } from './meta-tools.js';
import { ownName } from './shown-tools.js';

export interface Gated {
  readonly router: Router;
  readonly sessionId: string;
  readonly call: NamedCall;
  /** @param signal of the run of the tool */
  readonly ask: (signal: AbortSignal | undefined) => AskOptions;
  readonly onApproval: 'refuse' | 'interrupt';
  /** Who has resumed the run, as its program says. */
  readonly approver: Approver | undefined;
}

/** Run by LangChain like any other tool, so that its callbacks, traces and other middleware see it. */
export function createGatedTool(gated: Gated): DynamicStructuredTool {
  return new DynamicStructuredTool({
    name: gated.call.name,
    description: 'Runs behind the gate.',
    // The gate judges the arguments; LangChain's own check would tell what a tool takes to whoever may not know of it.
    schema: { type: 'object' },
    func: (given, _, config) => answer(gated, given, gated.ask(config?.signal)),
  });
}

async function answer(gated: Gated, given: Record<string, unknown>, ask: AskOptions): Promise<ToolMessage | string> {
  const { router, sessionId, call, onApproval, approver } = gated;
  try {
    if (isMetaName(call.name)) return JSON.stringify(await callMetaTool(call.name, given, { router, sessionId, ask }));
    const tool = await nameOf(gated, ask);
    const run = (input: Record<string, unknown>) => router.call(sessionId, { tool, arguments: input }, ask);
    const result: CallResult =
      onApproval === 'interrupt'
        ? await callWithApproval(router, { call: run, arguments: given }, approver)
        : await run(given);
    return toToolMessage(result, call);
  } catch (thrown) {
    return refusalMessage(refusalOf(thrown), call);
  }
}

/** Only names with a digest at the end may stand for others. */
async function nameOf({ router, sessionId, call }: Gated, ask: AskOptions): Promise<string> {
  if (!/_[0-9a-f]{8}$/u.test(call.name)) return call.name;
  const list = await router.list(sessionId, { mode: 'enabled' }, ask);
  return ownName(call.name, list.ok ? list.tools : []);
}
