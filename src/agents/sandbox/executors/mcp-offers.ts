/**
 * What MCP servers offer besides tools, in their own words, for adapters that hand it on. No policy is asked here: whoever
 * shows it decides to whom.
 */
import { NO_TIMEOUT_MS, readPages } from '../../../core/catalog/sources/mcp-connection.js';
import type { McpRefusal, McpSession } from './mcp-session.js';
import { type McpOffered, type McpOfferRequest, OFFERS } from './offers.js';

export async function askForOffer(
  { client, refusalOf }: Pick<McpSession, 'client' | 'refusalOf'>,
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
    return refusalOf(error);
  }
}

function refuse(capability: string): McpRefusal {
  return { ok: false, kind: 'refused', reason: `it offers no ${capability}` };
}
