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
 * @param failed sources whose tools are missing here
 * @throws WinnowError `invalid_catalog` when two system tools, or two of one user, still share a name
 */
export function mergeTools(placed: readonly PlacedTool[], failed: readonly SourceFailure[] = []): MergedTools {
  // Tools that have a prefix in any case share no name.
  const bare = placed.filter(({ server, isPrefixed }) => server !== undefined && !isPrefixed);
  const servers = placesBy(bare, ({ tool }) => tool.name, originOf);
  const isBare = (item: PlacedTool) => bare.includes(item) && servers.get(item.tool.name)?.size === 1;
  const issues: EntryIssue[] = [];
  const named = placed.map((item) => {
    const { server, tool, place } = item;
    if (server === undefined || isBare(item)) return item;
    const name = `${server.replace(/[^\p{L}\p{N}_-]+/gu, '_')}__${tool.name}`;
    const reason = item.isPrefixed ? 'its server has a prefix' : 'another server has a tool of this name';
    issues.push({ level: 'debug', entry: place, name: tool.name, message: `renamed to "${name}": ${reason}` });
    return { ...item, tool: { ...tool, name } };
  });
  if (bare.some(isBare)) issues.push(...warnOfNames(failed));
  refuseClashes(named);
  return { tools: named.map(({ tool }) => tool), issues };
}

/** What is missing may share names with what is there, which then gets other names as soon as that is back. */
function warnOfNames(failed: readonly SourceFailure[]): EntryIssue[] {
  const problem = 'while it does not answer, tools of others that share a name with one of its own have no prefix';
  const message = `${problem}; "prefix": true at each server of the configuration keeps names the same`;
  return failed.filter(({ isNaming }) => isNaming).map(({ source }) => ({ level: 'warning', entry: source, message }));
}

/** `createCatalog` refuses clashes too, but knows origins only; here the files and positions are known. */
function refuseClashes(placed: readonly PlacedTool[]): void {
  const places = placesBy(
    placed,
    ({ tool }) => JSON.stringify([tool.name, tool.scope]),
    (place) => place,
  );
  const clashes = [...places].filter(([, found]) => found.size > 1);
  if (clashes.length === 0) return;
  const issues = clashes.map(([key, found]) => {
    const [name]: unknown[] = JSON.parse(key);
    return `two tools are named "${String(name)}": ${[...found].join(' and ')}`;
  });
  const message = `Tool names clash: ${issues[0]}. Rename one, or leave one source out.`;
  throw new WinnowError('invalid_catalog', message, { issues });
}

function placesBy(
  items: readonly PlacedTool[],
  keyOf: (item: PlacedTool) => string,
  partOf: (place: string) => string,
): Map<string, Set<string>> {
  const places = new Map<string, Set<string>>();
  for (const item of items)
    places.set(keyOf(item), (places.get(keyOf(item)) ?? new Set<string>()).add(partOf(item.place)));
  return places;
}
