/** Who searches, as the router tells it; and the tools of now, as search sees them. */
import type { Tool } from '../../core/catalog/tool.js';
import type { Learnt } from '../../core/search/rank.js';
import type { SynonymTable } from '../../core/search/synonyms.js';
import type { Audience } from '../index/audience.js';
import type { IndexRefusal, OpenIndex, ToolIndex } from '../index/tool-index.js';
import type { SessionContext } from '../parts.js';

/** A session without its name: search needs no more to know who asks. */
export type SearchCaller = Omit<SessionContext, 'session'>;

export interface SearchParts {
  index: ToolIndex;
  /** All tools of now, with private ones; asked at each search, so that the index hears of a change. */
  tools: () => readonly Tool[];
  /** Those of now. */
  synonyms: () => SynonymTable;
  /** What use has taught for this person, project and all. Default: nothing. */
  learnt?: ((who: Pick<SearchCaller, 'user' | 'project'>) => Learnt | undefined) | undefined;
}

export function openFor({ index, tools }: SearchParts, caller: SearchCaller): OpenIndex | IndexRefusal {
  index.setTools(tools());
  const audience: Audience = { user: caller.user, allows: caller.isAllowed, key: caller.audience };
  return index.open(audience);
}
