/** Why the tools of an MCP server could not be listed, in words that follow "The source X", and what to do. */
import { StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { createKeyMask } from '../../secret-forms.js';
import { fetchReason } from './read.js';
import type { McpServer } from './source.js';

/** A page of HTML is no message. */
const MAX_BODY_CHARACTERS = 200;

export function describeSilence(server: McpServer, timeoutMs: number): string {
  const look = 'command' in server ? 'Start it by hand to see why' : 'Check that it runs, and the path of its URL';
  const more = 'sourceTimeoutMs in the configuration file, timeoutMs of loadCatalog';
  return `did not answer within ${timeoutMs} ms. ${look}, or allow more time (${more})`;
}

export function describeFailure(server: McpServer, error: unknown): string {
  const mask = createKeyMask('url' in server ? Object.values(server.headers ?? {}) : []);
  return `failed (${mask(failureReason(error))}). ${adviceOn(server, statusOf(error))}`;
}

/** With the status, where the server answered with one: the SDK's own words leave it out. */
export function failureReason(error: unknown): string {
  const status = statusOf(error);
  const [, body = ''] =
    /^Streamable HTTP error: (?:Error POSTing to endpoint: *)?(.*)$/su.exec(fetchReason(error)) ?? [];
  if (status === undefined) return body || fetchReason(error);
  return `HTTP ${status}${body ? `: ${body.slice(0, MAX_BODY_CHARACTERS)}` : ''}`;
}

function statusOf(error: unknown): number | undefined {
  // -1 stands for an answer that is not of the protocol.
  return error instanceof StreamableHTTPError && error.code !== undefined && error.code > 0 ? error.code : undefined;
}

function adviceOn(server: McpServer, status: number | undefined): string {
  if ('command' in server) return 'Check its command, and its keys';
  if (status === 401 || status === 403) return 'Check its key: "headers" of the server in the configuration';
  if (status === 404 || status === 405) return 'Check the path of its URL';
  if (status !== undefined && status >= 500) return 'The fault is on its side: see its own log, or try again later';
  return 'Check its URL, its headers and that it runs';
}
