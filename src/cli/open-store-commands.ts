/** What commands need that look into the store of a server: its sessions, approvals and figures, but nothing that runs. */
import { createCatalog } from '../catalog/catalog.js';
import { loadCatalog } from '../catalog/load.js';
import type { ConfigFile } from '../config/config-file.js';
import { parseIndexSettings } from '../routing/index/index-settings.js';
import { parseSessionSettings } from '../routing/sessions/session-settings.js';
import { type Agents, createAgents } from '../server/agents/agents.js';
import { openStore } from '../store/open-store.js';
import { requireStoreFile, requireStorePlace, type StoreFlags, storePlaceOf } from './agent-options.js';
import { openPolicy } from './agents-setup.js';
import { defaultCatalogPath } from './default-catalog.js';
import type { Output } from './output.js';
import { readConfig } from './read-config.js';
import { sourceOptions } from './source-options.js';

export interface LookFlags extends StoreFlags {
  config?: string;
  /** Given: which tools are enabled is told, and for that the catalogue is loaded. */
  catalog?: string[];
}

interface WhatIsNeeded {
  /** The catalogue with private tools. Default: no tools. */
  needsTools?: boolean;
  /** Learning from use is on, whatever the configuration says. */
  learns?: boolean;
  /** Nothing need be kept. */
  storeIsOptional?: boolean;
  /** What it writes may be the first of the store. Default: a store that is not there is an error. */
  mayCreate?: boolean;
  /** Where it is said that no catalogue was named: what is enabled or asked for is often of another. Default: nowhere. */
  stderr?: Output['stderr'];
}

const EXAMPLE = 'Catalogue: the example that comes with Winnow; name that of the server with --catalog.\n';

/** @throws WinnowError `invalid_option`, `store_failed`, or what the work throws */
export async function withStoredAgents<Result>(
  flags: LookFlags,
  work: (agents: Agents) => Promise<Result>,
  { needsTools = false, learns = false, storeIsOptional = false, mayCreate = false, stderr }: WhatIsNeeded = {},
): Promise<Result> {
  const config = await readConfig(flags);
  const place = storeIsOptional ? storePlaceOf(flags, config) : requireStorePlace(flags, config);
  if (place && !mayCreate) requireStoreFile(place);
  const policy = await openPolicy(flags.policy ?? config.policy);
  if (needsTools && !(flags.catalog ?? config.catalog)) stderr?.write(EXAMPLE);
  const catalog = needsTools ? await loadTools(flags, config) : createCatalog([]);
  const adaptation = { ...config.adaptation, ...(learns ? { enabled: true } : {}) };
  // As the server weighs its fields, so that a snapshot fits.
  const { weights } = parseIndexSettings(config.index ?? {});
  const options = parseSessionSettings(config.sessions ?? {});
  const store = await openStore(place ?? { memory: true });
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

async function loadTools(flags: LookFlags, config: ConfigFile) {
  const sources = flags.catalog ?? config.catalog ?? [defaultCatalogPath()];
  const { catalog } = await loadCatalog({ sources, strict: config.strict, ...sourceOptions(config) });
  return catalog;
}
