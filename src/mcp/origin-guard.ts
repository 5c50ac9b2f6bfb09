/**
 * Keeps web pages away: a page whose name was bound to this machine's address (DNS rebinding) carries its own name in
 * Host and Origin. The specification of MCP demands the check of Origin for Streamable HTTP.
 */
import type { IncomingHttpHeaders } from 'node:http';

export const LOOPBACK_HOSTS: readonly string[] = ['localhost', '127.0.0.1', '[::1]'];

export interface OriginGuardOptions {
  /**
   * Names without ports that a request may be sent to, and that a page which sends it may be from. Undefined: any name
   * may be sent to, for a server behind a gateway, and no page may send.
   */
  allowedHosts: readonly string[] | undefined;
}

/** @returns a function that says why a request is refused, or undefined */
export function createOriginGuard({ allowedHosts }: OriginGuardOptions) {
  const allowed = allowedHosts && new Set(allowedHosts.map((host) => host.toLowerCase()));
  const isAllowed = (url: string) => allowed?.has(hostOf(url) ?? '') ?? false;
  return ({ host = '', origin }: Pick<IncomingHttpHeaders, 'host' | 'origin'>): string | undefined => {
    if (allowed && !isAllowed(`http://${host}`)) return `The host "${host.slice(0, 80)}" is not served here.`;
    if (origin !== undefined && !isAllowed(origin)) return `Pages of "${origin.slice(0, 80)}" may not ask here.`;
    return undefined;
  };
}

function hostOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).hostname.toLowerCase() : undefined;
}
