/**
 * What a call came to, as MCP results. A refusal or a failure is a result with `isError`, its code, why and what to do
 * next, never an error of the protocol: models read results and go on from them.
 */
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { isObject } from '../core/catalog/schema/json.js';
import { ERROR_TABLE } from '../core/errors.js';
import type { CallResult, Refusal } from '../routing/contracts.js';
import { type Problem, TOLD, toProblem } from '../server/problem.js';

/** For clients that read structured content, and as text for those that do not. */
export function structured(content: object): CallToolResult {
  return { content: [text(JSON.stringify(content))], structuredContent: { ...content } };
}

export function toResult(result: CallResult): CallToolResult {
  if (!result.ok) return refused(result);
  const { output, notes } = result;
  const shown = typeof output === 'string' ? output : JSON.stringify(output ?? null);
  return {
    content: [text(shown), ...notes.map((note) => text(`Note: ${note}`))],
    ...(isObject(output) ? { structuredContent: { ...output } } : {}),
  };
}

interface Refused extends Refusal {
  readonly issues?: readonly string[] | undefined;
  readonly approval?: string | undefined;
}

export function refused(refusal: Refused): CallToolResult {
  const { code, reason, next, issues = [], approval } = refusal;
  const waits = approval === undefined ? [] : [`Approval: ${approval}`];
  const lines = [`${code}: ${reason}`, ...issues.map((issue) => `- ${issue}`), ...waits, next];
  return { content: [text(lines.join('\n'))], structuredContent: { ...refusal, ok: false }, isError: true };
}

/** What was thrown, as far as it may be told. */
export function failed(thrown: unknown): CallToolResult {
  return refused(toRefusal(toProblem(thrown, '')));
}

function toRefusal({ code, title, detail, issues }: Problem): Refusal & { issues?: readonly string[] } {
  const again = ERROR_TABLE[code].retry ? 'Try again later.' : 'Do not try again; go another way, or tell the user.';
  return {
    code,
    reason: TOLD.has(code) ? detail : title,
    next: code === 'invalid_request' ? 'Mend what is named and call again.' : again,
    ...(issues.length > 0 ? { issues } : {}),
  };
}

function text(words: string): { type: 'text'; text: string } {
  return { type: 'text', text: words };
}
