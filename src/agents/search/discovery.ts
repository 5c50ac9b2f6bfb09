/** Search and narrow lists over one index, for a router's `search` and `handOut`. */
import type { Catalog } from '../../core/catalog/catalog.js';
import { oncePer } from '../../core/kept.js';
import { createSynonymTable, type Synonyms } from '../../core/search/synonyms.js';
import type { ListOutput, ListRequest } from '../contracts.js';
import { createToolIndex, type ToolIndex, type ToolIndexOptions } from '../index/tool-index.js';
import {
  createNarrowLists,
  createToolSearch,
  type SearchCaller,
  type SearchParts,
  type ToolSearch,
} from './tool-search.js';

export interface DiscoveryParts extends Pick<SearchParts, 'learnt' | 'rerank' | 'down'> {
  /** The current tools; a reloaded catalogue is indexed in the background. */
  catalog: () => Catalog;
  /**
   * Synonyms of the catalogue's domain, for example from `loadSynonyms`. A function is called for each search, so they
   * may be reloaded. Default: only the general ones.
   */
  synonyms?: Synonyms | (() => Synonyms) | undefined;
  index?: ToolIndexOptions | undefined;
}

export interface Discovery {
  readonly index: ToolIndex;
  readonly search: ToolSearch;
  readonly handOut: (request: ListRequest, caller: SearchCaller) => Promise<ListOutput>;
}

/**
 * The index of a catalogue, with the search and the narrow lists over it.
 * @throws WinnowError `invalid_option` for wrong weights.
 * @example
 * const discovery = createDiscovery({ catalog: () => catalog });
 * await discovery.index.settled();
 */
export function createDiscovery({ catalog, synonyms = [], ...parts }: DiscoveryParts): Discovery {
  const tools = () => catalog().tools;
  const index = createToolIndex(tools(), parts.index);
  const tableOf = oncePer((own: Synonyms) => createSynonymTable(own));
  const table = () => tableOf(typeof synonyms === 'function' ? synonyms() : synonyms);
  // Built now, so that the first search need not wait.
  table();
  const shared = { index, tools, synonyms: table, learnt: parts.learnt, rerank: parts.rerank, down: parts.down };
  return { index, search: createToolSearch(shared), handOut: createNarrowLists(shared) };
}
