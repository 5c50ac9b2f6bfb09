/**
 * All tools of one MCP server, page by page. The server is always closed again: process ended, session given
 * back. Errors are plain, in words that follow "The source X"; the caller adds the source.
 */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { z } from 'zod';
import { orAborted } from '../../promises.js';
import { createKeyMask } from '../../secret-forms.js';
import { readVersion } from '../../version.js';
import { describeFailure, describeSilence } from './mcp-failure.js';
import type { McpServer, ReadContext } from './source.js';

/** A server that never ends its list is cut here, with an error. */
const MAX_PAGES = 1000;
const FAREWELL_TIMEOUT_MS = 3_000;
const MAX_STDERR_CHARACTERS = 500;

/** Only the frame is checked: the SDK's own schema refuses a whole page for one bad tool. */
const pageSchema = z.looseObject({ tools: z.array(z.unknown()), nextCursor: z.string().nullish() });

type RequestOptions = { signal: AbortSignal; timeout: number };

/** @throws Error whose message says what the server did, and what to do */
export async function listServerTools(server: McpServer, context: ReadContext): Promise<unknown[]> {
  const timeout = AbortSignal.timeout(context.timeoutMs);
  const signal = AbortSignal.any(context.signal ? [timeout, context.signal] : [timeout]);
  const connection = openConnection(server, signal);
  const client = new Client({ name: 'winnow', version: readVersion() });
  // The SDK needs a time-out of its own per request; the signal is the one that bounds the whole.
  const options = { signal, timeout: context.timeoutMs + 1000 };
  try {
    // A process that does not read its input, or a hanging connection, must not outlive the signal.
    await orAborted(client.connect(connection.transport, options), signal);
    return client.getServerCapabilities()?.tools ? await listPages(client, options) : [];
  } catch (error) {
    const what = timeout.aborted ? describeSilence(server, context.timeoutMs) : describeFailure(server, error);
    throw new Error(`${what}${connection.lastWords()}`, { cause: error });
  } finally {
    await connection.close();
  }
}

async function listPages(client: Client, options: RequestOptions): Promise<unknown[]> {
  const tools: unknown[] = [];
  const seen = new Set<string>();
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page++) {
    const params = cursor === undefined ? {} : { cursor };
    const answer = await client.request({ method: 'tools/list', params }, pageSchema, options);
    tools.push(...answer.tools);
    cursor = answer.nextCursor ?? undefined;
    if (cursor === undefined) return tools;
    if (seen.has(cursor)) throw new Error('it gave one cursor twice, so its list has no end');
    seen.add(cursor);
  }
  throw new Error(`its list has more than ${MAX_PAGES} pages`);
}

export interface Connection {
  transport: StdioClientTransport | StreamableHTTPClientTransport;
  /** What the process wrote on stderr last, without the values of its environment. */
  lastWords(): string;
  close(): Promise<void>;
}

/** `signal` bounds the life of the connection, not only its opening. */
export function openConnection(server: McpServer, signal: AbortSignal): Connection {
  return 'command' in server ? openProcess(server) : openUrl(server, signal);
}

function openProcess(server: Extract<McpServer, { command: string }>): Connection {
  const { command, args, env, cwd } = server;
  const transport = new StdioClientTransport({
    command,
    stderr: 'pipe',
    ...(args ? { args: [...args] } : {}),
    ...(env ? { env: { ...env } } : {}),
    ...(cwd ? { cwd } : {}),
  });
  const mask = createKeyMask(Object.values(env ?? {}));
  let words = '';
  transport.stderr?.on('data', (chunk) => {
    words = (words + String(chunk)).slice(-4 * MAX_STDERR_CHARACTERS);
  });
  const lastWords = () => {
    const text = mask(words).trim().slice(-MAX_STDERR_CHARACTERS);
    return text ? `; its stderr ends with: ${text}` : '';
  };
  return { transport, lastWords, close: closeOnce(transport) };
}

function openUrl(server: Extract<McpServer, { url: string }>, signal: AbortSignal): Connection {
  const transport = new StreamableHTTPClientTransport(new URL(server.url), {
    requestInit: { headers: { ...server.headers } },
    // Bounds every request, also the last one that ends the session.
    fetch: (url, init) =>
      fetch(url, { ...init, signal: init?.signal ? AbortSignal.any([signal, init.signal]) : signal }),
  });
  const close = closeOnce(transport);
  const endSession = async () => {
    const patience = AbortSignal.any([signal, AbortSignal.timeout(FAREWELL_TIMEOUT_MS)]);
    // A server that can't end sessions has nothing to give back, and one that does not answer must not keep us.
    if (!signal.aborted) await orAborted(transport.terminateSession(), patience).catch(() => undefined);
    await close();
  };
  return { transport, lastWords: () => '', close: endSession };
}

/** A failed `connect` starts to close without waiting; this way that close and ours are one, and we wait for it. */
function closeOnce(transport: { close(): Promise<void> }): () => Promise<void> {
  const close = transport.close.bind(transport);
  let closing: Promise<void> | undefined;
  transport.close = () => {
    closing ??= close();
    return closing;
  };
  return () => transport.close();
}
