/**
 * Turns results of calls into tool messages. A refusal is an answer for the agent, with code, reason and next. Only failures
 * that no agent can correct (a failing store, a cancelled run) are thrown.
 */

import { ToolMessage } from '@langchain/core/messages';
import { DynamicStructuredTool } from '@langchain/core/tools';
import type { CallResult, Refusal } from '../../agents/contracts.js';
import type { AskOptions, Router } from '../../agents/router.js';
import { WinnowError } from '../../core/errors.js';
import { type Approver, callWithApproval } from './approval-interrupt.js';
import { callMetaTool, isMetaName, ownName } from './meta-tools.js';

/** The name and id of a call in LangChain's messages. */
interface NamedCall {
  readonly name: string;
  readonly id?: string | undefined;
}

type Refused = Refusal & { readonly ok: false; readonly issues?: readonly string[] | undefined };

/** `artifact` has the parts of the result that the content lacks. */
function toToolMessage(result: CallResult, call: NamedCall): ToolMessage {
  if (!result.ok) {
    const { content: _, ...refusal } = result;
    return refusalMessage(refusal, call);
  }
  const { output, content: blocks, notes, milliseconds } = result;
  const shown = typeof output === 'string' ? output : JSON.stringify(output ?? null);
  const content = [shown, ...notes.map((note) => `Note: ${note}`)].join('\n');
  const artifact = { ok: true, notes, milliseconds, ...(blocks ? { content: blocks } : {}) };
  return new ToolMessage({ ...head(call), content, status: 'success', artifact });
}

export function refusalMessage({ ok, ...refusal }: Refused, call: NamedCall): ToolMessage {
  // `ok` comes first, since small models are guided by the beginning.
  const refused = { ok, ...refusal };
  return new ToolMessage({ ...head(call), content: JSON.stringify(refused), status: 'error', artifact: refused });
}

/**
 * Turns an invalid input or an ended session into a refusal.
 * @throws any other error unchanged
 */
function refusalOf(thrown: unknown): Refused {
  const code = thrown instanceof WinnowError ? thrown.code : undefined;
  if (!(thrown instanceof WinnowError) || (code !== 'invalid_request' && code !== 'not_found')) throw thrown;
  if (code === 'not_found')
    return { ok: false, code: 'session_ended', reason: 'The session is over.', next: 'Ask the user to start again.' };
  const next = 'Mend what is named and call again.';
  return { ok: false, code, reason: thrown.message, next, issues: thrown.issues };
}

function head({ name, id = '' }: NamedCall): { name: string; tool_call_id: string } {
  return { name, tool_call_id: id };
}

interface Gated {
  readonly router: Router;
  readonly sessionId: string;
  readonly call: NamedCall;
  /** @param signal of the tool's run */
  readonly ask: (signal: AbortSignal | undefined) => AskOptions;
  readonly onApproval: 'refuse' | 'interrupt';
  /** Who resumed the run, according to its program. */
  readonly approver: Approver | undefined;
}

/** Sends any call to the router. LangChain runs it as a normal tool, so callbacks, traces and other middleware see it. */
export function createGatedTool(gated: Gated): DynamicStructuredTool {
  return new DynamicStructuredTool({
    name: gated.call.name,
    description: 'Runs behind the gate.',
    // The gate checks the arguments; LangChain's own check would reveal the schema to callers who may not see the tool.
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
    const approved = { call: run, arguments: given };
    const result: CallResult =
      onApproval === 'interrupt' ? await callWithApproval(router, approved, approver) : await run(given);
    return toToolMessage(result, call);
  } catch (thrown) {
    return refusalMessage(refusalOf(thrown), call);
  }
}

/** Only names that end in a digest can be names that replace others. */
async function nameOf({ router, sessionId, call }: Gated, ask: AskOptions): Promise<string> {
  if (!/_[0-9a-f]{8}$/u.test(call.name)) return call.name;
  const list = await router.list(sessionId, { mode: 'enabled' }, ask);
  return ownName(call.name, list.ok ? list.tools : []);
}
