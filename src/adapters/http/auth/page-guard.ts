/**
 * Keeps web pages away. A page whose name was bound to this machine's address (DNS rebinding) carries its own name in
 * Host and Origin; one that sends from elsewhere says so in Origin and in Sec-Fetch-Site, which no page can leave out.
 * The specification of MCP demands the check of Origin for Streamable HTTP.
 */
import type { IncomingHttpHeaders } from 'node:http';

export const LOOPBACK_HOSTS: readonly string[] = ['localhost', '127.0.0.1', '[::1]'];

export interface PageGuardOptions {
  /**
   * Names without ports that a request may be sent to. Undefined: any name, for a server that asks every caller for a
   * proof of who they are.
   */
  allowedHosts: readonly string[] | undefined;
  /** Pages of other places that may ask, for example `https://app.example`. Default: none. */
  origins?: readonly string[] | undefined;
}

export type PageGuard = (headers: IncomingHttpHeaders) => string | undefined;

/** @returns a function that says why a request is refused, or undefined */
export function createPageGuard({ allowedHosts, origins = [] }: PageGuardOptions): PageGuard {
  const allowed = allowedHosts && new Set(allowedHosts.map((host) => host.toLowerCase()));
  const named = new Set([...(allowed ?? [])].filter((host) => !LOOPBACK_HOSTS.includes(host)));
  return ({ host = '', origin, 'sec-fetch-site': site }) => {
    if (allowed && !allowed.has(urlOf(`http://${host}`)?.hostname ?? ''))
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
