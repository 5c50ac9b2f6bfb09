/** Servers whose tools can't be called, or are not even known: told to callers who may find tools of theirs, and to nobody else. */
import type { Catalog } from '../../core/catalog/catalog.js';
import { toolNameOf } from '../../core/catalog/sources/mcp-server.js';
import type { SourceFailure } from '../../core/catalog/sources/source.js';
import { parseTool, type Tool } from '../../core/catalog/tool.js';
import type { SearchOutput } from '../contracts.js';
import type { ServerHealth } from '../sandbox/executors/executor.js';

export interface DownServersParts {
  catalog: () => Catalog;
  /** Of the last reading of the sources. Default: none. */
  failures?: (() => readonly SourceFailure[]) | undefined;
  /** Of the servers that were called. */
  health: () => ServerHealth;
}

/** Asked at each search. @param isAllowed whether the caller may find a tool */
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

/** Where none is known, one in the name of the server, so that the policy can say who may know of it. */
function toolsOf(server: string, { tools }: Catalog): readonly Tool[] {
  const known = tools.filter(({ metadata }) => Object(metadata.mcp).server === server);
  // A tool of one user says nothing of who else may know of its server.
  if (known.length > 0) return known.filter(({ scope }) => scope === 'system');
  const entry = { name: toolNameOf('', server), toolType: 'mcp', risk: 'high', origin: server };
  const parsed = parseTool(entry, { origin: server, index: 0 });
  return parsed.ok ? [parsed.tool] : [];
}
