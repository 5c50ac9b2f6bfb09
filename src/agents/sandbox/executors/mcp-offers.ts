/**
 * What MCP servers offer besides tools, in their own words, for adapters that hand it on. No policy is asked here: whoever
 * shows it decides to whom.
 */
import type { Client } from '@modelcontextprotocol/client';
import { NO_TIMEOUT_MS, readPages } from '../../../core/catalog/sources/mcp-connection.js';
import { type McpRefusal, readFailure } from './mcp-session.js';

/** By its method: what a server must be able to do, and, of a list, where its items stand. */
const OFFERS = {
  'resources/list': { capability: 'resources', items: 'resources' },
  'resources/templates/list': { capability: 'resources', items: 'resourceTemplates' },
  'resources/read': { capability: 'resources' },
  'prompts/list': { capability: 'prompts', items: 'prompts' },
  'prompts/get': { capability: 'prompts' },
  'completion/complete': { capability: 'completions' },
} as const;

export interface McpOfferRequest {
  readonly method: keyof typeof OFFERS;
  /** As the specification has them; not of lists, which are read whole. */
  readonly params?: Readonly<Record<string, unknown>>;
}

export interface McpOffered {
  readonly ok: true;
  /** As the specification has it. A server that can't do it offers an empty list. */
  readonly result: Readonly<Record<string, unknown>>;
}

export async function askForOffer(
  client: Client,
  { method, params = {} }: McpOfferRequest,
  signal: AbortSignal,
): Promise<McpOffered | McpRefusal> {
  const offer: { capability: 'resources' | 'prompts' | 'completions'; items?: string } = OFFERS[method];
  const { capability, items } = offer;
  const isAble = client.getServerCapabilities()?.[capability] !== undefined;
  const ask = (more: Readonly<Record<string, unknown>>): Promise<object> =>
    client.request({ method, params: { ...more } }, { signal, timeout: NO_TIMEOUT_MS });
  try {
    if (!isAble) return items === undefined ? refuse(capability) : { ok: true, result: { [items]: [] } };
    if (items === undefined) return { ok: true, result: { ...(await ask(params)) } };
    const all = await readPages(async (page) => {
      const { [items]: found, nextCursor } = Object(await ask(page));
      return { items: found, nextCursor };
    });
    return { ok: true, result: { [items]: all } };
  } catch (error) {
    return readFailure(error);
  }
}

function refuse(capability: string): McpRefusal {
  return { ok: false, kind: 'refused', reason: `it offers no ${capability}` };
}
