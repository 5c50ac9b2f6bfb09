/** Tools of several sources in one list with unique names. */
import { WinnowError } from '../../errors.js';
import type { EntryIssue, Tool } from '../tool.js';
import { originOf, type PlacedTool } from './entries.js';

export interface MergedTools {
  readonly tools: readonly Tool[];
  /** One a tool that got its server's name as a prefix. */
  readonly issues: readonly EntryIssue[];
}

/**
 * Where two MCP servers have a tool of one name, each gets its server's name as a prefix (`github__search`);
 * the server's own name of the tool stays in `metadata.mcp`.
 * @throws WinnowError `invalid_catalog` when two system tools, or two of one user, still share a name
 */
export function mergeTools(placed: readonly PlacedTool[]): MergedTools {
  const issues: EntryIssue[] = [];
  const serversOf = groupBy(placed, ({ tool }) => tool.name, placeOfServer);
  const named = placed.map((item) => {
    if (item.server === undefined || (serversOf.get(item.tool.name)?.size ?? 0) < 2) return item;
    const name = `${item.server.replace(/[^\p{L}\p{N}_-]+/gu, '_')}__${item.tool.name}`;
    const message = `renamed to "${name}": another server has a tool of this name`;
    issues.push({ level: 'debug', entry: item.place, name: item.tool.name, message });
    return { ...item, tool: { ...item.tool, name } };
  });
  refuseClashes(named);
  return { tools: named.map(({ tool }) => tool), issues };
}

/** `createCatalog` refuses clashes too, but knows origins only; here the files and positions are known. */
function refuseClashes(placed: readonly PlacedTool[]): void {
  const places = groupBy(
    placed,
    ({ tool }) => JSON.stringify([tool.scope, tool.name]),
    ({ place }) => place,
  );
  const issues = [...places].flatMap(([key, found]) => {
    if (found.size < 2) return [];
    const [, name]: unknown[] = JSON.parse(key);
    return [`two tools are named "${String(name)}": ${[...found].join(' and ')}`];
  });
  if (issues.length === 0) return;
  const advice = 'Rename one, or leave one source out';
  throw new WinnowError('invalid_catalog', `Tool names clash: ${issues[0]}. ${advice}.`, { issues });
}

function placeOfServer({ server, place }: PlacedTool): string | undefined {
  return server === undefined ? undefined : originOf(place);
}

function groupBy<T>(items: readonly T[], keyOf: (item: T) => string, partOf: (item: T) => string | undefined) {
  const groups = new Map<string, Set<string>>();
  for (const item of items) {
    const value = partOf(item);
    if (value === undefined) continue;
    const group = groups.get(keyOf(item)) ?? new Set();
    groups.set(keyOf(item), group.add(value));
  }
  return groups;
}
