/** What commands need that look into the store of a server: its sessions, approvals and figures, but nothing that runs. */

import { type Agents, createAgents } from '../agents/agents.js';
import { parseIndexSettings } from '../agents/index/kept-index.js';
import { parseSessionSettings } from '../agents/parts.js';
import { openStore } from '../agents/store/open-store.js';
import { createCatalog } from '../core/catalog/catalog.js';
import { requireStoreFile, requireStorePlace, type StoreFlags, storePlaceOf } from './agent-options.js';
import { openPolicy } from './agents-setup.js';
import { loadTools } from './load-tools.js';
import type { Output } from './output.js';
import { readConfig } from './read-config.js';

export interface LookFlags extends StoreFlags {
  config?: string;
  /** Given: which tools are enabled is told, and for that the catalogue is loaded. */
  catalog?: string[];
}

interface WhatIsNeeded {
  /** The catalogue with private tools, and where it is told what is wrong with it. Default: no tools. */
  needsTools?: Pick<Output, 'stderr'>;
  /** Learning from use is on, whatever the configuration says. */
  learns?: boolean;
  /** Nothing need be kept. */
  storeIsOptional?: boolean;
  /** What it writes may be the first of the store. Default: a store that is not there is an error. */
  mayCreate?: boolean;
}

/** @throws WinnowError `invalid_option`, `store_failed`, or what the work throws */
export async function withStoredAgents<Result>(
  flags: LookFlags,
  work: (agents: Agents) => Promise<Result>,
  { needsTools, learns = false, storeIsOptional = false, mayCreate = false }: WhatIsNeeded = {},
): Promise<Result> {
  const config = await readConfig(flags);
  const place = storeIsOptional ? storePlaceOf(flags, config) : requireStorePlace(flags, config);
  if (place && !mayCreate) requireStoreFile(place);
  const policy = await openPolicy(flags.policy ?? config.policy);
  const catalog = needsTools ? (await loadTools(flags, config, needsTools)).loaded.catalog : createCatalog([]);
  const adaptation = { ...config.adaptation, ...(learns ? { enabled: true } : {}) };
  // As the server weighs its fields, so that a snapshot fits.
  const { weights } = parseIndexSettings(config.index ?? {});
  const options = parseSessionSettings(config.sessions ?? {});
  const store = await openStore(place);
  const agents = createAgents({
    store,
    catalog: () => catalog,
    policy,
    adaptation,
    index: { weights },
    options,
    executors: [],
  });
  try {
    // With the private tools, in lists as in the index.
    if (needsTools) await agents.refresh();
    return await work(agents);
  } finally {
    await agents.close();
  }
}
