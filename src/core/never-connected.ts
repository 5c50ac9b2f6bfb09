/** Codes of Node and undici for a connection that was never made: the server can have begun with nothing. */

const UNREACHED: ReadonlySet<string> = new Set([
  'EAI_AGAIN',
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'UND_ERR_CONNECT_TIMEOUT',
]);
const UNTRUSTED = /^(?:ERR_TLS_CERT_|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_)/u;

export function isNeverConnected(code: string): boolean {
  return UNREACHED.has(code) || code.startsWith('ERR_TLS_') || isUntrusted(code);
}

/** A server answers, but its certificate is not one to send anything to. */
export function isUntrusted(code: string): boolean {
  return UNTRUSTED.test(code);
}
