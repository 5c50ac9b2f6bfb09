/**
 * Results of calls as MCP results. A refusal or a failure is a result with `isError`, its code, the reason and what to do
 * next, never a protocol error: models read results and continue from them.
 */
import { ContentBlockSchema } from '@modelcontextprotocol/core';
import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/server';
import type { CallResult, Refusal } from '../../agents/contracts.js';
import { isObject } from '../../core/catalog/schema/json.js';
import { ERROR_TABLE } from '../../core/errors.js';
import { type Problem, PUBLIC_CODES, toProblem } from '../http/problem.js';

/** For clients that read structured content, and as text for those that do not. */
export function structured(content: object): CallToolResult {
  return { content: [text(JSON.stringify(content))], structuredContent: { ...content } };
}

/**
 * Content blocks of an MCP tool stay unchanged.
 * @param isPromised the client knows an outputSchema of the tool, and refuses a success without matching structured
 * content: so shortened or other output becomes an error
 */
export function toResult(result: CallResult, isPromised = false): CallToolResult {
  if (!result.ok) return refused(result, isPromised);
  const { output, notes } = result;
  const blocks = blocksOf(result) ?? [text(shownAs(output))];
  const noteBlocks = notes.map((note) => text(`Note: ${note}`));
  if (isPromised && result.isStructured !== true) {
    const hasWords = blocks.some(({ type }) => type === 'text');
    const all = [...blocks, ...(hasWords ? [] : [text(shownAs(output))]), ...noteBlocks];
    return { content: all, isError: true, ...metaOf(result) };
  }
  const isStructured = isObject(output) && (result.content === undefined || result.isStructured === true);
  const more = isStructured ? { structuredContent: { ...output } } : {};
  return { content: [...blocks, ...noteBlocks], ...more, ...metaOf(result) };
}

/** Without keys of the protocol itself, which the server sends to its own client, Winnow. */
function metaOf({ meta = {} }: Pick<CallResult, 'meta'>): Pick<CallToolResult, '_meta'> {
  const kept = Object.entries(meta).filter(([key]) => !key.startsWith('io.modelcontextprotocol/'));
  return kept.length > 0 ? { _meta: Object.fromEntries(kept) } : {};
}

function shownAs(output: unknown): string {
  return typeof output === 'string' ? output : JSON.stringify(output ?? null);
}

/** Drops invalid blocks, which no MCP tool can have sent. */
function blocksOf({ content }: Pick<CallResult, 'content'>): ContentBlock[] | undefined {
  return content?.flatMap((block) => ContentBlockSchema.safeParse(block).data ?? []);
}

interface Refused extends Refusal {
  readonly issues?: readonly string[] | undefined;
  readonly approval?: string | undefined;
  readonly granted?: (CallResult & { ok: false })['granted'];
  readonly content?: CallResult['content'];
  readonly meta?: CallResult['meta'];
  readonly session?: string;
}

/** @param isPromised as for `toResult` */
function refused({ content, meta, ...refusal }: Refused, isPromised = false): CallToolResult {
  const { code, reason, next, issues = [], approval, granted, session } = refusal;
  const waits = approval === undefined ? [] : [`Approval: ${approval}`];
  const comesBack = session === undefined ? [] : [`Session: ${session}`];
  const edited = granted ? [`Granted: ${JSON.stringify(granted.arguments)}`] : [];
  const lines = [`${code}: ${reason}`, ...issues.map((issue) => `- ${issue}`), ...waits, ...comesBack, ...edited, next];
  return {
    content: blocksOf({ content }) ?? [text(lines.join('\n'))],
    ...(isPromised ? {} : { structuredContent: { ...refusal, ok: false } }),
    isError: true,
    ...metaOf({ meta }),
  };
}

/** An error as a result, with only what the caller may see. */
export function failed(thrown: unknown): CallToolResult {
  return refused(toRefusal(toProblem(thrown, '')));
}

function toRefusal({ code, title, detail, issues }: Problem): Refusal & { issues?: readonly string[] } {
  const again = ERROR_TABLE[code].retry ? 'Try again later.' : 'Do not try again; go another way, or tell the user.';
  return {
    code,
    reason: PUBLIC_CODES.has(code) ? detail : title,
    next: code === 'invalid_request' ? 'Mend what is named and call again.' : again,
    ...(issues.length > 0 ? { issues } : {}),
  };
}

function text(words: string): { type: 'text'; text: string } {
  return { type: 'text', text: words };
}
