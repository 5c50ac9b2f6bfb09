/**
 * What a call came to, as tool messages. A refusal is an answer for the agent, with code, reason and next; only what
 * no agent can mend (a store that fails, a cancelled run) is thrown.
 */
import { ToolMessage } from '@langchain/core/messages';
import type { CallResult, Refusal } from '../../agents/contracts.js';
import { WinnowError } from '../../core/errors.js';

/** The call of a tool as LangChain's messages name it. */
export interface NamedCall {
  readonly name: string;
  readonly id?: string | undefined;
}

export type Refused = Refusal & { readonly ok: false; readonly issues?: readonly string[] | undefined };

/** The result as `artifact`, without what stands in the content already. */
export function toToolMessage(result: CallResult, call: NamedCall): ToolMessage {
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
  // What kind of answer it is stands first: small models read on from there.
  const refused = { ok, ...refusal };
  return new ToolMessage({ ...head(call), content: JSON.stringify(refused), status: 'error', artifact: refused });
}

/**
 * A wrong input, or a session that is over, as a refusal.
 * @throws any other error as it came
 */
export function refusalOf(thrown: unknown): Refused {
  const code = thrown instanceof WinnowError ? thrown.code : undefined;
  if (!(thrown instanceof WinnowError) || (code !== 'invalid_request' && code !== 'not_found')) throw thrown;
  if (code === 'not_found')
    return { ok: false, code: 'session_ended', reason: 'The session is over.', next: 'Tell the user to begin anew.' };
  const next = 'Mend what is named and call again.';
  return { ok: false, code, reason: thrown.message, next, issues: thrown.issues };
}

function head({ name, id = '' }: NamedCall): { name: string; tool_call_id: string } {
  return { name, tool_call_id: id };
}
