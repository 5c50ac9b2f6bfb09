/** Servers whose tools can't be called or are unknown. Only callers who may find tools of a server see it. */
import type { Catalog } from '../../core/catalog/catalog.js';
import { toolNameOf } from '../../core/catalog/sources/mcp-server.js';
import type { SourceFailure } from '../../core/catalog/sources/source.js';
import { parseTool, type Tool } from '../../core/catalog/tool.js';
import type { SearchOutput } from '../contracts.js';
import type { ServerHealth } from '../sandbox/executors/executor.js';

export interface DownServersParts {
  catalog: () => Catalog;
  /** Sources that failed when they were last read. Default: none. */
  failures?: (() => readonly SourceFailure[]) | undefined;
  /** Health of the servers that were called. */
  health: () => ServerHealth;
}

/** Called for each search. @param isAllowed whether the caller may find a tool */
export type FindDownServers = (isAllowed: (tool: Tool) => boolean) => SearchOutput['down'];

export function createDownServers({ catalog, failures, health }: DownServersParts): FindDownServers {
  return (isAllowed) => {
    const called = health();
    const unread = (failures?.() ?? []).flatMap(({ server }) => (server && !called.has(server.name) ? [server] : []));
    const failing = [...called].flatMap(([name, reason]) => (reason === undefined ? [] : [{ name, reason }]));
    const down = [...unread, ...failing].filter(({ name }) => toolsOf(name, catalog()).some(isAllowed));
    return down.length === 0 ? undefined : down.map(({ name, reason }) => ({ server: name, reason }));
  };
}

/** The server's tools; if none is known, a placeholder, so that the policy can decide who may know of the server. */
export function toolsOf(server: string, { tools }: Catalog): readonly Tool[] {
  const known = tools.filter(({ metadata }) => Object(metadata.mcp).server === server);
  // A user's own tool does not show who else may know of its server.
  if (known.length > 0) return known.filter(({ scope }) => scope === 'system');
  const entry = { name: toolNameOf('', server), toolType: 'mcp', risk: 'high', origin: server };
  const parsed = parseTool(entry, { origin: server, index: 0 });
  return parsed.ok ? [parsed.tool] : [];
}
