/** Who searches, as the router tells it; and the tools of now, as search sees them. */
import type { View } from '../../catalog/scope.js';
import type { Tool } from '../../catalog/tool.js';
import type { Learnt } from '../../search/rank.js';
import type { SynonymTable } from '../../search/synonyms.js';
import type { Audience } from '../index/audience.js';
import type { IndexRefusal, OpenIndex, ToolIndex } from '../index/tool-index.js';

export interface SearchCaller {
  readonly user?: string | undefined;
  readonly project?: string | undefined;
  readonly view: View;
  /** What is not allowed is not found, counted or hinted at. */
  readonly isAllowed: (tool: Tool) => boolean;
  /** Equal audiences promise equal answers of `isAllowed`. */
  readonly audience?: string | undefined;
  readonly isEnabled: (tool: Tool) => boolean;
  readonly signal?: AbortSignal | undefined;
}

export interface SearchParts {
  index: ToolIndex;
  /** All tools of now, with private ones; asked at each search, so that the index hears of a change. */
  tools: () => readonly Tool[];
  synonyms: SynonymTable;
  /** What use has taught for this person, project and all. Default: nothing. */
  learnt?: ((who: Pick<SearchCaller, 'user' | 'project'>) => Learnt | undefined) | undefined;
}

export function openFor({ index, tools }: SearchParts, caller: SearchCaller): OpenIndex | IndexRefusal {
  index.setTools(tools());
  const audience: Audience = { user: caller.user, allows: caller.isAllowed, key: caller.audience };
  return index.open(audience);
}
