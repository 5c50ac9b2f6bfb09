/**
 * Refuses foreign web pages. A page that uses DNS rebinding sends its own name in Host and Origin; a cross-origin request
 * shows in Origin and Sec-Fetch-Site, which no page can leave out. The MCP specification demands the check of Origin for
 * Streamable HTTP.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { isLoopback } from '../../../core/catalog/sources/source.js';

export const LOOPBACK_HOSTS: readonly string[] = ['localhost', '127.0.0.1', '[::1]'];

export interface PageGuardOptions {
  /**
   * Host names, without ports, that requests may use. Undefined: any name, for a server where every caller proves who
   * they are.
   */
  allowedHosts: readonly string[] | undefined;
  /** Other origins whose pages may send requests, for example `https://app.example`. Default: none. */
  origins?: readonly string[] | undefined;
}

/** Without user or path, which a URL may have around its host. */
const IS_HOST = /^[^@/\\?#]+$/u;

type PageGuard = (headers: IncomingHttpHeaders) => string | undefined;

/** @returns a function that returns why a request is refused, or undefined */
export function createPageGuard({ allowedHosts, origins = [] }: PageGuardOptions): PageGuard {
  const allowed = allowedHosts && new Set(allowedHosts.map((host) => host.toLowerCase()));
  const named = new Set([...(allowed ?? [])].filter((host) => !isLoopback(host)));
  return ({ host = '', origin, 'sec-fetch-site': site }) => {
    if (allowed && !(IS_HOST.test(host) && allowed.has(urlOf(`http://${host}`)?.hostname ?? '')))
      return `The host "${host.slice(0, 80)}" is not served here.`;
    // Another port of this machine is another program's page; a gateway before a named host may have another port.
    const from = urlOf(origin ?? '');
    const isOwn =
      from !== undefined && (from.host === urlOf(`${from.protocol}//${host}`)?.host || named.has(from.hostname));
    if (origin !== undefined)
      return isOwn || origins.includes(origin) ? undefined : `Pages of "${origin.slice(0, 80)}" may not ask here.`;
    return site === 'cross-site' || site === 'same-site' ? 'Pages of other places may not ask here.' : undefined;
  };
}

function urlOf(url: string): URL | undefined {
  return URL.canParse(url) ? new URL(url) : undefined;
}
