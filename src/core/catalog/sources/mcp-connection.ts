/**
 * Connects to one MCP server of any revision and transport, lists its tools, and describes its failures. It tries the newest
 * revision first, then those before 2026, then SSE.
 */
import {
  Client,
  type ElicitResult,
  InsufficientScopeError,
  ProtocolError,
  ProtocolErrorCode,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  SseError,
  UnsupportedProtocolVersionError,
  type VersionNegotiationOptions,
} from '@modelcontextprotocol/client';
import { readVersion } from '../../environment.js';
import { orAborted, reasonOf } from '../../errors.js';
import { NoToken } from './mcp-issuer.js';
import { McpFailure, type McpServer, maskOf, type ServerTokens } from './mcp-server.js';
import { createServerTokens } from './mcp-tokens.js';
import {
  createMcpTransport,
  type McpTransport,
  rawPageSchema,
  type TransportOptions,
  type Wire,
} from './mcp-transport.js';

/** A longer list counts as endless and is an error. */
const MAX_PAGES = 1000;
const MAX_LIST_CHARACTERS = 2 ** 25;
const MAX_LIST_ITEMS = 20_000;
const MAX_BODY_CHARACTERS = 200;
/** The SDK requires a time-out for each request; here signals limit them instead. */
export const NO_TIMEOUT_MS = 2 ** 31 - 1;

/** @throws McpFailure whose message says what the server did, and what to do */
export async function listServerTools(
  server: McpServer,
  { timeoutMs, signal, tokens }: Pick<ConnectOptions, 'timeoutMs' | 'signal' | 'tokens'>,
): Promise<{ tools: unknown[]; way: Way }> {
  const { client, way, patience, explain, close } = await connect(server, { timeoutMs, signal, tokens });
  try {
    const hasTools = client.getServerCapabilities()?.tools !== undefined;
    return { tools: hasTools ? await orAborted(listTools(client, patience), patience) : [], way };
  } catch (error) {
    throw explain(error);
  } finally {
    await close();
  }
}

async function listTools(client: Client, signal: AbortSignal): Promise<unknown[]> {
  return readPages(async (params) => {
    const request = { method: 'tools/list', params } as const;
    const { raw } = await client.request(request, rawPageSchema, { signal, timeout: NO_TIMEOUT_MS });
    return { items: raw.tools, nextCursor: raw.nextCursor };
  });
}

interface Page {
  readonly items: readonly unknown[];
  readonly nextCursor?: string | null | undefined;
}

/** A list without an end. The connection itself still works, and others may use it. */
export class EndlessList extends Error {}

/** Reads all pages of a server's list. @throws EndlessList with the reason, and what `readPage` throws */
export async function readPages(readPage: (params: { cursor?: string }) => Promise<Page>): Promise<unknown[]> {
  const all: unknown[] = [];
  const seen = new Set<string>();
  let cursor: string | undefined;
  let characters = 0;
  for (let page = 0; page < MAX_PAGES; page++) {
    const { items, nextCursor } = await readPage(cursor === undefined ? {} : { cursor });
    for (const item of items) all.push(item);
    characters += JSON.stringify(items).length + (nextCursor?.length ?? 0);
    if (all.length > MAX_LIST_ITEMS) throw new EndlessList(`its list has more than ${MAX_LIST_ITEMS} entries`);
    if (characters > MAX_LIST_CHARACTERS)
      throw new EndlessList(`its list has more than ${MAX_LIST_CHARACTERS} characters`);
    cursor = nextCursor ?? undefined;
    if (cursor === undefined) return all;
    if (seen.has(cursor)) throw new EndlessList('it gave one cursor twice, so its list has no end');
    seen.add(cursor);
  }
  throw new EndlessList(`its list has more than ${MAX_PAGES} pages`);
}

/** Transport and protocol era of a connection. The eras are the SDK's: legacy before 2026-07-28, modern since. */
export interface Way {
  readonly wire: Wire;
  readonly era: 'any' | 'legacy' | 'modern';
}

/** A process that does not answer the version probe within this time counts as older than 2026-07-28. */
const PROBE_TIMEOUT_MS = 5_000;
const MODERN_VERSION = '2026-07-28';

function negotiationOf({ era, wire }: Way): VersionNegotiationOptions {
  if (era === 'legacy') return { mode: 'legacy' };
  if (era === 'modern') return { mode: { pin: MODERN_VERSION } };
  return { mode: 'auto', ...(wire === 'stdio' ? { probe: { timeoutMs: PROBE_TIMEOUT_MS } } : {}) };
}

/** @param asked the elicitation as received; @param signal aborts when the answer is no longer needed */
export type AskedByServer = (asked: unknown, signal: AbortSignal) => Promise<ElicitResult>;

/** Declared even for mere listing: some servers show tools that elicit input only to clients that support it. */
const CAPABILITIES = { elicitation: { form: {} } };
const DECLINE: AskedByServer = async () => ({ action: 'decline' });

export interface ConnectOptions extends Pick<TransportOptions, 'hear' | 'onFlood'> {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  /** Tokens of earlier connections to a server with `oauth`. Default: new ones. */
  readonly tokens?: ServerTokens | undefined;
  /** Answers elicitations, which a server addresses to a person. Default: declines them. */
  readonly ask?: AskedByServer | undefined;
  /** The way in which the server answered before. Default: tries all. */
  readonly way?: Way | undefined;
}

interface Opened extends Omit<McpTransport, 'transport'> {
  readonly client: Client;
  readonly way: Way;
}

interface Connection extends Opened {
  /** Aborts on time-out, or when the caller cancels. */
  readonly patience: AbortSignal;
  readonly told: (error: unknown) => Told;
  /** Turns an error into a failure that says what the server did, and what to do. */
  explain(error: unknown): McpFailure;
}

/** @throws McpFailure whose message says what the server did, and what to do */
export async function connect(
  server: McpServer,
  { timeoutMs, signal, hear, onFlood, ask = DECLINE, way = firstWay(server), ...options }: ConnectOptions,
): Promise<Connection> {
  const { tokens = createServerTokens(server) } = options;
  // `explain` keeps a reference: on Node 20 the combined signal never fires once its time-out is garbage-collected.
  const timeout = AbortSignal.timeout(timeoutMs);
  const patience = signal ? AbortSignal.any([timeout, signal]) : timeout;
  let lastWords = () => '';
  let flood: string | undefined;
  const told = (error: unknown): Told => ({
    reason: flood === undefined ? failureReason(error, maskOf(server, tokens?.keys())) : `it ${flood}`,
    advice: adviceOnTokens(error, tokens),
  });
  const explain = (error: unknown) => {
    const isSilent = timeout.aborted && flood === undefined;
    const what = isSilent ? describeSilence(server, timeoutMs) : describeFailure(server, error, told(error));
    const brief = isSilent ? `did not answer within ${timeoutMs} ms` : (flood ?? describeBriefly(server, error));
    return new McpFailure(what, { brief, lastWords: lastWords(), cause: error });
  };

  async function open(one: Way): Promise<Opened> {
    const { transport, ...opened } = createMcpTransport(server, one.wire, {
      hear,
      tokens,
      onFlood(what) {
        flood = what;
        onFlood?.(what);
      },
    });
    lastWords = opened.lastWords;
    const options = { versionNegotiation: negotiationOf(one), capabilities: CAPABILITIES };
    const client = new Client({ name: 'winnow', version: readVersion() }, options);
    // A handler for this method would get a schema without its marks of secrets.
    client.fallbackRequestHandler = async ({ method, params }, { mcpReq }) => {
      if (method === 'elicitation/create') return ask(params, mcpReq.signal);
      throw new ProtocolError(ProtocolErrorCode.MethodNotFound, `Winnow does not answer ${method}.`);
    };
    try {
      // A process that does not read its input, or a hanging connection, must end with the signal.
      const connecting = client.connect(transport, { signal: patience, timeout: NO_TIMEOUT_MS });
      await orAborted(connecting, patience);
    } catch (error) {
      await opened.close();
      const next = patience.aborted || flood !== undefined ? undefined : wayAfter(error, one, server);
      if (!next) throw error;
      return open(next).catch((later: unknown) => {
        // If a URL supports neither transport, the first error is the one that people need.
        throw next.wire === one.wire || patience.aborted ? later : error;
      });
    }
    const way: Way = { wire: one.wire, era: client.getProtocolEra() ?? 'legacy' };
    return { ...opened, client, way };
  }

  const opened = await open(way).catch((error: unknown) => {
    throw explain(error);
  });
  return { ...opened, patience, told, explain };
}

function firstWay(server: McpServer): Way {
  if ('command' in server) return { wire: 'stdio', era: 'any' };
  return server.type === 'sse' ? { wire: 'sse', era: 'legacy' } : { wire: 'http', era: 'any' };
}

/** Status codes by which a server without streamable HTTP refuses it, by the specification. */
const NOT_STREAMABLE = [400, 404, 405];

/** A request unknown to an old server may end it, even after the probe's time-out. */
const MAYBE_OLD: readonly string[] = [SdkErrorCode.EraNegotiationFailed, SdkErrorCode.ConnectionClosed];

/** What to try after a failure: the handshake from before 2026-07-28, only that revision, or SSE. */
function wayAfter(error: unknown, { wire, era }: Way, server: McpServer): Way | undefined {
  if (error instanceof UnsupportedProtocolVersionError)
    return error.supported.includes(MODERN_VERSION) && era !== 'modern' ? { wire, era: 'modern' } : undefined;
  if (error instanceof SdkError && MAYBE_OLD.includes(error.code) && era === 'any') return { wire, era: 'legacy' };
  const isOld = wire === 'http' && NOT_STREAMABLE.includes(statusOf(error) ?? 0);
  return isOld && server.type === undefined ? { wire: 'sse', era: 'legacy' } : undefined;
}

function describeSilence(server: McpServer, timeoutMs: number): string {
  const look = 'command' in server ? 'Start it by hand to see why' : 'Check that it runs, and the path of its URL';
  const more = 'sourceTimeoutMs in the configuration file, timeoutMs of loadCatalog';
  return `did not answer within ${timeoutMs} ms. ${look}, or allow more time (${more})`;
}

/** The parts of an error that may be shown. */
export interface Told {
  /** What was wrong, without keys. */
  readonly reason: string;
  /** What to do about the tokens of a server with `oauth`. Undefined: they are not the cause. */
  readonly advice: string | undefined;
}

function describeFailure(server: McpServer, error: unknown, { reason, advice }: Told): string {
  return `failed (${reason}). ${advice ?? adviceOn(server, statusOf(error))}`;
}

function describeBriefly(server: McpServer, error: unknown): string {
  const status = statusOf(error);
  if (status !== undefined) return `answered with HTTP ${status}`;
  if (error instanceof NoToken) return 'was not asked, since there is no token for it';
  const [code] = [error, Object(error).cause]
    .map((one) => Object(one).code)
    .filter((one) => SYSTEM_CODE.test(String(one)));
  if (error instanceof SdkError)
    return error.code === SdkErrorCode.ConnectionClosed ? 'ended before it answered' : NOT_OF_FORM;
  if (code === undefined) return NOT_OF_FORM;
  return 'command' in server ? `could not be started (${code})` : `could not be reached (${code})`;
}

const NOT_OF_FORM = 'did not answer as MCP asks for';
/** Error codes of Node, for example ENOENT and ECONNREFUSED. */
const SYSTEM_CODE = /^[A-Z][A-Z0-9_]{2,40}$/u;

/** @param mask applied before the text is cut, since it does not recognise part of a key */
function failureReason(error: unknown, mask: (text: string) => string): string {
  const status = statusOf(error);
  if (status === undefined) return mask(reasonOf(error));
  const said = error instanceof SdkHttpError ? Object(error.data).text : undefined;
  const text = error instanceof InsufficientScopeError ? `it wants the scope "${error.requiredScope}"` : said;
  const body = typeof text === 'string' && !/^\s*</u.test(text) ? mask(text).slice(0, MAX_BODY_CHARACTERS) : '';
  return `HTTP ${status}${body && `: ${body}`}`;
}

export function statusOf(error: unknown): number | undefined {
  if (error instanceof SdkHttpError) return error.status;
  if (error instanceof InsufficientScopeError) return 403;
  return error instanceof SseError ? error.code : undefined;
}

function adviceOnTokens(error: unknown, tokens: ServerTokens | undefined): string | undefined {
  if (!tokens) return undefined;
  if (error instanceof NoToken) return error.advice;
  if (error instanceof InsufficientScopeError) return 'Check "oauth.scope" of the server in the configuration';
  return statusOf(error) === 401
    ? 'It refuses a new token, too. Check "oauth" of the server in the configuration'
    : undefined;
}

function adviceOn(server: McpServer, status: number | undefined): string {
  if ('command' in server) return `Check its command, ${server.cwd ? 'its cwd ' : ''}and its keys`;
  const proof = server.oauth ? '"oauth"' : '"headers"';
  if (status === 401 || status === 403) return `Check its key: ${proof} of the server in the configuration`;
  if (status === 404 || status === 405)
    return 'Check its URL: Winnow speaks streamable HTTP, often at /mcp, and SSE, often at /sse';
  return 'Check its URL, its headers and that it runs';
}
