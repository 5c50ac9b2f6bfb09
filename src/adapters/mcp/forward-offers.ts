/**
 * Forwards resources, templates, prompts and completions of the MCP servers behind Winnow to its clients. Names carry the
 * name of their server, so that no server can replace another's; contents stay unchanged.
 */
import { ProtocolError, ProtocolErrorCode, type Server, type ServerCapabilities } from '@modelcontextprotocol/server';
import type { McpOfferRequest, McpOffers } from '../../agents/sandbox/executors/offers.js';
import { prefixOf } from '../../core/catalog/sources/mcp-server.js';

interface ForwardParts {
  /** The current servers, which change with the configuration. */
  readonly offers: () => McpOffers | undefined;
  /** The client's user. */
  readonly user: string | undefined;
  /** Called for a server whose list fails. */
  readonly onFailure: (server: string, reason: string) => void;
}

export const FORWARDED: ServerCapabilities = { resources: {}, prompts: {}, completions: {} };

type Fields = Readonly<Record<string, unknown>>;

/** Put before the server's own address, for example `winnow://notes/`; a template stays a template. */
const schemeOf = (server: string) => `winnow://${encodeURIComponent(server)}/`;

/** Answers requests that do not concern tools. The server must have the capabilities `FORWARDED`. */
export function forwardOffers(server: Server, { offers, user, onFailure }: ForwardParts): void {
  async function askOne(name: string, request: McpOfferRequest, signal: AbortSignal): Promise<Fields> {
    const offered = await offers()?.ask(name, request, { signal, user });
    if (offered?.ok) return offered.result;
    throw new ProtocolError(ProtocolErrorCode.InternalError, offered?.reason ?? 'There are no MCP servers.');
  }

  /** Asks all servers in parallel; one that fails does not affect the others. */
  async function listAll(
    method: McpOfferRequest['method'],
    key: string,
    rename: (item: Fields, server: string) => Fields,
    signal: AbortSignal,
  ): Promise<Fields> {
    const lists = (offers()?.servers() ?? []).map(async (name) => {
      try {
        const { [key]: items } = await askOne(name, { method }, signal);
        return Array.isArray(items) ? items.map((item) => rename({ ...item }, name)) : [];
      } catch (error) {
        onFailure(name, error instanceof Error ? error.message : String(error));
        return [];
      }
    });
    return { [key]: (await Promise.all(lists)).flat() };
  }

  /** The server, and the server's own name for it. */
  function find(given: string, startOf: (server: string) => string): { name: string; own: string } {
    const name = offers()
      ?.servers()
      .find((one) => given.startsWith(startOf(one)));
    if (name !== undefined) return { name, own: given.slice(startOf(name).length) };
    const reason = `There is no "${given.slice(0, 200)}" on any server.`;
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, reason, startOf === schemeOf ? { uri: given } : undefined);
  }

  const address = (item: Fields, name: string) => withAddresses(item, schemeOf(name)) as Fields;

  server.setRequestHandler('resources/list', (_, { mcpReq: { signal } }) =>
    answer(listAll('resources/list', 'resources', address, signal)),
  );
  server.setRequestHandler('resources/templates/list', (_, { mcpReq: { signal } }) =>
    answer(listAll('resources/templates/list', 'resourceTemplates', address, signal)),
  );
  server.setRequestHandler('resources/read', ({ params }, { mcpReq: { signal } }) => {
    const { name, own } = find(params.uri, schemeOf);
    return answer(
      askOne(name, { method: 'resources/read', params: { uri: own } }, signal).then((read) => address(read, name)),
    );
  });
  server.setRequestHandler('prompts/list', (_, { mcpReq: { signal } }) =>
    answer(
      listAll('prompts/list', 'prompts', (item, name) => ({ ...item, name: `${prefixOf(name)}${item.name}` }), signal),
    ),
  );
  server.setRequestHandler('prompts/get', ({ params }, { mcpReq: { signal } }) => {
    const { name, own } = find(params.name, prefixOf);
    const request = { method: 'prompts/get', params: { name: own, arguments: params.arguments ?? {} } } as const;
    return answer(askOne(name, request, signal).then((prompt) => address(prompt, name)));
  });
  server.setRequestHandler('completion/complete', ({ params }, { mcpReq: { signal } }) => {
    const { ref, argument, context } = params;
    const { name, own } = ref.type === 'ref/prompt' ? find(ref.name, prefixOf) : find(ref.uri, schemeOf);
    const meant = ref.type === 'ref/prompt' ? { ...ref, name: own } : { ...ref, uri: own };
    const asked = { ref: meant, argument, ...(context ? { context } : {}) };
    return answer(askOne(name, { method: 'completion/complete', params: asked }, signal));
  });
}

/** Another server made it; the SDK validates it on the way to the client. */
async function answer<Result>(work: Promise<Fields>): Promise<Result> {
  return (await work) as Result;
}

/** Prefixes addresses with their server, at any depth: contents, links, and resources in prompts. */
function withAddresses(value: unknown, scheme: string): unknown {
  if (Array.isArray(value)) return value.map((item) => withAddresses(item, scheme));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => {
      const isAddress = (key === 'uri' || key === 'uriTemplate') && typeof part === 'string';
      if (isAddress) return [key, `${scheme}${part}`];
      return [key, key === '_meta' ? part : withAddresses(part, scheme)];
    }),
  );
}
