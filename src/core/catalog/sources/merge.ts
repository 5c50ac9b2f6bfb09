/** Tools of several sources in one list with unique names. */
import { WinnowError } from '../../errors.js';
import type { EntryIssue, Tool } from '../tool.js';
import { originOf, type PlacedTool } from './entries.js';
import type { SourceFailure } from './source.js';

export interface MergedTools {
  readonly tools: readonly Tool[];
  /** One a tool that got its server's name as a prefix, and one a server that could change the names of others. */
  readonly issues: readonly EntryIssue[];
}

/**
 * Where two MCP servers have a tool of one name, each gets its server's name as a prefix (`github__search`);
 * the server's own name of the tool stays in `metadata.mcp`.
 * @param failed whose tools are not among them
 * @throws WinnowError `invalid_catalog` when two system tools, or two of one user, still share a name
 */
export function mergeTools(placed: readonly PlacedTool[], failed: readonly SourceFailure[] = []): MergedTools {
  const issues: EntryIssue[] = [];
  const serversOf = groupBy(placed, ({ tool }) => tool.name, placeOfServer);
  const isBare = ({ server, isPrefixed, tool }: PlacedTool) =>
    server === undefined || (!isPrefixed && (serversOf.get(tool.name)?.size ?? 0) < 2);
  const named = placed.map((item) => {
    if (isBare(item)) return item;
    const name = `${item.server?.replace(/[^\p{L}\p{N}_-]+/gu, '_')}__${item.tool.name}`;
    const message = `renamed to "${name}": ${item.isPrefixed ? 'its server has a prefix' : 'another server has a tool of this name'}`;
    issues.push({ level: 'debug', entry: item.place, name: item.tool.name, message });
    return { ...item, tool: { ...item.tool, name } };
  });
  if (placed.some((item) => item.server !== undefined && isBare(item))) issues.push(...warnOfNames(failed));
  refuseClashes(named);
  return { tools: named.map(({ tool }) => tool), issues };
}

/** What is missing may share names with what is there, which is then called otherwise as soon as that is back. */
function warnOfNames(failed: readonly SourceFailure[]): EntryIssue[] {
  const problem = 'while it does not answer, tools of others that share a name with one of its own have no prefix';
  const advice = '"prefix": true at each server of the configuration keeps names the same';
  return failed
    .filter(({ isNaming }) => isNaming)
    .map(({ source }) => ({ level: 'warning', entry: source, message: `${problem}; ${advice}` }));
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

/** Those that are prefixed in any case are in nobody's way. */
function placeOfServer({ server, isPrefixed, place }: PlacedTool): string | undefined {
  return server === undefined || isPrefixed ? undefined : originOf(place);
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
