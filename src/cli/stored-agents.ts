/** What commands need that look into the store of a server: its approvals, audit and figures, but nothing that runs. */

import { type Agents, createAgents } from '../adapters/http/agents/agents.js';
import { parseIndexSettings } from '../agents/index/index-settings.js';
import { parseSessionSettings } from '../agents/sessions/session-settings.js';
import { openStore } from '../agents/store/open-store.js';
import { createCatalog } from '../core/catalog/catalog.js';
import { openPolicy } from './agents-setup.js';
import type { AgentFlags, PlanningFlags } from './flags.js';
import { loadTools } from './load-tools.js';
import { readConfig, requireStoreFile, requireStorePlace, storePlaceOf } from './read-config.js';

interface WhatIsNeeded {
  /** The catalogue with private tools; what is wrong with it goes to stderr. Default: no tools. */
  needsTools?: boolean;
  /** Nothing need be kept. */
  storeIsOptional?: boolean;
  /** What it writes may be the first of the store. Default: a store that is not there is an error. */
  mayCreate?: boolean;
}

/** @throws WinnowError `invalid_option`, `store_failed`, or what the work throws */
export async function withStoredAgents<Result>(
  flags: Pick<AgentFlags, 'store' | 'policy'> & Pick<PlanningFlags, 'config' | 'catalog'>,
  work: (agents: Agents) => Promise<Result>,
  { needsTools = false, storeIsOptional = false, mayCreate = false }: WhatIsNeeded = {},
): Promise<Result> {
  const config = await readConfig(flags);
  const place = storeIsOptional ? storePlaceOf(flags, config) : requireStorePlace(flags, config);
  if (place && !mayCreate) requireStoreFile(place);
  const policy = await openPolicy(flags.policy ?? config.policy);
  const { stderr } = process;
  const catalog = needsTools ? (await loadTools(flags, config, { stderr })).loaded.catalog : createCatalog([]);
  // As the server weighs its fields, so that a snapshot fits.
  const { weights } = parseIndexSettings(config.index ?? {});
  const options = parseSessionSettings(config.sessions ?? {});
  const store = await openStore(place ?? { memory: true });
  const agents = createAgents({ store, catalog: () => catalog, policy, index: { weights }, options, executors: [] });
  try {
    // With the private tools, in lists as in the index.
    if (needsTools) await agents.refresh();
    return await work(agents);
  } finally {
    await agents.close();
  }
}
