/** A caller, a search and an index over a few tools, as the router would put them together. */

import { type SearchInput, searchInputSchema } from '../../../src/agents/contracts.js';
import { createDiscovery, type DiscoveryParts } from '../../../src/agents/search/discovery.js';
import type { SearchCaller } from '../../../src/agents/search/tool-search.js';
import { createCatalog } from '../../../src/core/catalog/catalog.js';
import { createScope } from '../../../src/core/catalog/scope.js';
import type { Tool } from '../../../src/core/catalog/tool.js';
import { makeTool } from '../../core/selection/setup.js';

export const OWN_TOOLS: readonly Tool[] = [
  makeTool('branch_notes', { description: 'My notes on a branch.', category: 'mine', scope: { user: 'ann' } }),
  makeTool('branch_secret', { description: 'My secret branch of zebras.', category: 'zebras', scope: { user: 'ann' } }),
];

export const SYSTEM_TOOLS: readonly Tool[] = [
  makeTool('git_branch_create', { description: 'Create a branch.', category: 'git', risk: 'high' }),
  makeTool('git_branch_list', { description: 'List the branches.', category: 'git' }),
  makeTool('git_push', { description: 'Send the commits of a branch to the remote.', category: 'git', risk: 'high' }),
  makeTool('git_branch_show', { description: 'Show a branch.', category: 'git' }),
  makeTool('file_read', { description: 'Return the text of a file.', category: 'files' }),
  makeTool('file_delete', { description: 'Delete a file.', category: 'files', risk: 'high' }),
  makeTool('old_branch', { description: 'Out of service: a branch.', category: 'git', available: false }),
];

export const TOOLS = [...SYSTEM_TOOLS, ...OWN_TOOLS];

export function callerOf(tools: readonly Tool[] = TOOLS, more: Partial<SearchCaller> = {}): SearchCaller {
  const view = createScope(createCatalog(tools))({ user: more.user });
  return { view, isAllowed: () => true, isEnabled: () => false, ...more };
}

/** A search whose index is ready. */
export async function setUp(parts: Partial<DiscoveryParts> & { tools?: readonly Tool[] } = {}) {
  const { tools = TOOLS, ...more } = parts;
  const catalog = createCatalog(tools);
  const discovery = createDiscovery({ catalog: () => catalog, ...more });
  await discovery.index.settled();
  const search = (input: SearchInput, caller: Partial<SearchCaller> = {}) =>
    discovery.search(searchInputSchema.parse(input), callerOf(tools, caller));
  return { ...discovery, search, tools };
}

export function matchNames({ matches }: { matches: readonly { name: string }[] }): string[] {
  return matches.map(({ name }) => name);
}
