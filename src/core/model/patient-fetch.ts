/** `fetch` where undici's global dispatcher leads (a proxy, a mock), with a time-out in place of its 300 s. */
import type { RequestInit, Response } from 'undici';

/** @param silenceMs longest time without a byte; 0: no limit */
export async function patientFetch(url: string, init: RequestInit, silenceMs: number): Promise<Response> {
  // Loaded with the first request: it takes longer to load than the rest of the room.
  const { fetch, getGlobalDispatcher } = await import('undici');
  const timeouts = { headersTimeout: silenceMs, bodyTimeout: silenceMs };
  const dispatcher = getGlobalDispatcher().compose((dispatch) => {
    return (options, handler) => dispatch({ ...options, ...timeouts }, handler);
  });
  return fetch(url, { ...init, dispatcher });
}
