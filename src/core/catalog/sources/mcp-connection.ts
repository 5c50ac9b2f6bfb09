/** A connection to one MCP server, as what the server did when it fails; and the tools that it lists. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport, StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { z } from 'zod';
import { readVersion } from '../../environment.js';
import { orAborted } from '../../errors.js';
import { createOpening } from '../../kept.js';
import { createKeyMask } from '../../secret-forms.js';
import { boundBody } from './bound-body.js';
import { type McpServer, type ReadContext, reasonOf } from './source.js';

/** A server that never ends its list is cut here, with an error. */
const MAX_PAGES = 1000;
const MAX_LIST_CHARACTERS = 2 ** 25;
const FAREWELL_TIMEOUT_MS = 3_000;
const MAX_STDERR_CHARACTERS = 500;
const MAX_BODY_CHARACTERS = 200;
/** The SDK wants a time-out of its own for each request; the signals are the ones that bound them. */
export const NO_TIMEOUT_MS = 2 ** 31 - 1;

/** Only the frame is checked: the SDK's own schema refuses a whole page for one bad tool. */
const pageSchema = z.looseObject({ tools: z.array(z.unknown()), nextCursor: z.string().nullish() });

/** @throws Error whose message says what the server did, and what to do */
export async function listServerTools(server: McpServer, { timeoutMs, signal }: ReadContext): Promise<unknown[]> {
  const { client, patience, explain, close } = await connect(server, timeoutMs, signal).catch((error: unknown) => {
    throw withLastWords(error);
  });
  try {
    return client.getServerCapabilities()?.tools ? await orAborted(listPages(client, patience), patience) : [];
  } catch (error) {
    throw withLastWords(explain(error));
  } finally {
    await close();
  }
}

async function listPages(client: Client, signal: AbortSignal): Promise<unknown[]> {
  const tools: unknown[] = [];
  const seen = new Set<string>();
  let cursor: string | undefined;
  let characters = 0;
  for (let page = 0; page < MAX_PAGES; page++) {
    const params = cursor === undefined ? {} : { cursor };
    const request = { method: 'tools/list', params } as const;
    const answer = await client.request(request, pageSchema, { signal, timeout: NO_TIMEOUT_MS });
    for (const tool of answer.tools) tools.push(tool);
    characters += JSON.stringify(answer.tools).length;
    if (characters > MAX_LIST_CHARACTERS) throw new Error(`its list has more than ${MAX_LIST_CHARACTERS} characters`);
    cursor = answer.nextCursor ?? undefined;
    if (cursor === undefined) return tools;
    if (seen.has(cursor)) throw new Error('it gave one cursor twice, so its list has no end');
    seen.add(cursor);
  }
  throw new Error(`its list has more than ${MAX_PAGES} pages`);
}

/** What a server did, for anybody. What its process wrote on stderr may hold keys and paths: it is for operators alone. */
export class McpFailure extends Error {
  constructor(
    message: string,
    readonly lastWords: string,
    options: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** For operators, who start the server: with what it wrote on stderr last. */
function withLastWords(error: unknown): unknown {
  return error instanceof McpFailure && error.lastWords !== ''
    ? new Error(`${error.message}; its stderr ends with: ${error.lastWords}`, { cause: error.cause })
    : error;
}

interface Connection {
  readonly client: Client;
  /** Fires when the time is over, or the caller gives up. */
  readonly patience: AbortSignal;
  /** What was thrown, as what the server did, and what to do. */
  explain(error: unknown): McpFailure;
  /** Ends the process, or gives the session back. Idempotent, and throws nothing. */
  close(): Promise<void>;
}

/** @throws Error whose message says what the server did, and what to do */
export async function connect(server: McpServer, timeoutMs: number, signal?: AbortSignal): Promise<Connection> {
  // `explain` holds it: on Node 20 the signal made of both is lost when its time-out is collected.
  const timeout = AbortSignal.timeout(timeoutMs);
  const patience = signal ? AbortSignal.any([timeout, signal]) : timeout;
  const transport = createTransport(server);
  const client = new Client({ name: 'winnow', version: readVersion() });
  const lastWords = 'stderr' in transport ? listenTo(transport, server) : () => '';
  // A failed `connect` starts to close without waiting; this way that close and ours are one, and we wait for it.
  const ending = createOpening(transport.close.bind(transport));
  transport.close = ending.get;
  const closing = createOpening(async () => {
    if ('terminateSession' in transport) {
      // One that does not answer must not keep us, and one that can't end sessions has nothing to give back.
      const farewell = orAborted(transport.terminateSession(), AbortSignal.timeout(FAREWELL_TIMEOUT_MS));
      await farewell.catch(() => undefined);
    }
    await ending.get().catch(() => undefined);
  });
  const explain = (error: unknown) => {
    const what = timeout.aborted ? describeSilence(server, timeoutMs) : describeFailure(server, error);
    return new McpFailure(what, lastWords(), { cause: error });
  };
  try {
    // A process that does not read its input, or a hanging connection, must not outlive the signal.
    await orAborted(client.connect(transport, { signal: patience, timeout: NO_TIMEOUT_MS }), patience);
  } catch (error) {
    await closing.get();
    throw explain(error);
  }
  return { client, patience, explain, close: closing.get };
}

function createTransport(server: McpServer): StdioClientTransport | StreamableHTTPClientTransport {
  if ('url' in server) {
    const remote = new StreamableHTTPClientTransport(new URL(server.url), {
      requestInit: { headers: { ...server.headers } },
      // Who waits for an answer in a stream that was cut hears of the end of the connection.
      fetch: async (url, init) => boundBody(await fetch(url, init), { onCutStream: () => void remote.close() }),
    });
    return remote;
  }
  const { command, args = [], env, cwd } = server;
  return new StdioClientTransport({
    command,
    args: [...args],
    stderr: 'pipe',
    ...(env ? { env: { ...env } } : {}),
    ...(cwd ? { cwd } : {}),
  });
}

function listenTo({ stderr }: StdioClientTransport, server: McpServer): () => string {
  const mask = createKeyMask('command' in server ? Object.values(server.env ?? {}) : []);
  let words = '';
  stderr?.on('data', (chunk) => {
    words = (words + String(chunk)).slice(-4 * MAX_STDERR_CHARACTERS);
  });
  return () => {
    return mask(words).trim().slice(-MAX_STDERR_CHARACTERS);
  };
}

function describeSilence(server: McpServer, timeoutMs: number): string {
  const look = 'command' in server ? 'Start it by hand to see why' : 'Check that it runs, and the path of its URL';
  const more = 'sourceTimeoutMs in the configuration file, timeoutMs of loadCatalog';
  return `did not answer within ${timeoutMs} ms. ${look}, or allow more time (${more})`;
}

function describeFailure(server: McpServer, error: unknown): string {
  const mask = createKeyMask('url' in server ? Object.values(server.headers ?? {}) : []);
  return `failed (${mask(failureReason(error))}). ${adviceOn(server, statusOf(error))}`;
}

export function failureReason(error: unknown): string {
  const status = statusOf(error);
  const [, body = ''] = /^Streamable HTTP error: (?:Error POSTing to endpoint: *)?(.*)$/su.exec(reasonOf(error)) ?? [];
  if (status === undefined) return body || reasonOf(error);
  const isPage = /^\s*</u.test(body);
  return `HTTP ${status}${body && !isPage ? `: ${body.slice(0, MAX_BODY_CHARACTERS)}` : ''}`;
}

function statusOf(error: unknown): number | undefined {
  // -1 stands for an answer that is not of the protocol.
  return error instanceof StreamableHTTPError && error.code !== undefined && error.code > 0 ? error.code : undefined;
}

function adviceOn(server: McpServer, status: number | undefined): string {
  if ('command' in server) return 'Check its command, and its keys';
  if (status === 401 || status === 403) return 'Check its key: "headers" of the server in the configuration';
  if (status === 404 || status === 405)
    return 'Check its URL: Winnow speaks streamable HTTP, often at /mcp. For a server of the older SSE transport take "command": "npx", "args": ["mcp-remote", "URL"]';
  return 'Check its URL, its headers and that it runs';
}
