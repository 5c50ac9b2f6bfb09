/**
 * The two ways to hand out tools with their schemas, from one place: `classic` gives all that the caller may use, `narrow`
 * the best for a query with their scores. One never takes the other's place: what stands in the way is answered.
 */
import { WinnowError } from '../../core/errors.js';
import { rank } from '../../core/search/rank.js';
import type { ListOutput, ListRequest } from '../contracts.js';
import { toListed } from '../hand-out.js';
import { openFor, type SearchCaller, type SearchParts } from './caller.js';

export interface ToolListOptions {
  /** Most tools of a narrow list where none is asked for. Default: 8. */
  topK?: number | undefined;
  /** Tools of a narrow list score at least so much, between 0 and 1, where nothing is asked for. Default: 0.15. */
  minScore?: number | undefined;
}

/** @returns a function that throws WinnowError `invalid_request` for a narrow list without a query. */
export function createToolLists(parts: SearchParts, { topK = 8, minScore = 0.15 }: ToolListOptions = {}) {
  return async (request: ListRequest, caller: SearchCaller): Promise<ListOutput> => {
    if (request.mode !== 'narrow') {
      const tools = caller.view.tools.filter((tool) => tool.available && caller.isAllowed(tool));
      const wanted = request.mode === 'classic' ? tools : tools.filter(caller.isEnabled);
      return { ok: true, mode: request.mode, tools: wanted.map(toListed) };
    }
    const { query, top_k = topK, min_score = minScore } = request;
    if (query === undefined) {
      const issues = ['query: say what is to be done, a narrow list is made for it'];
      throw new WinnowError('invalid_request', `The request is not usable: ${issues[0]}.`, { issues });
    }
    const opened = openFor(parts, caller);
    if (!opened.ok) return opened;
    const { own, system } = opened.layers;
    const ranked = rank(query, own ? [own, system] : [system], {
      limit: top_k,
      synonyms: parts.synonyms(),
      learnt: parts.learnt?.(caller),
    });
    const tools = ranked
      .filter(({ score }) => score >= min_score)
      .map(({ tool, score }) => ({ ...toListed(tool), score }));
    if (tools.length > 0) return { ok: true, mode: 'narrow', tools };
    return {
      ok: false,
      code: 'no_candidates',
      reason: `No tool matches the query with a score of ${min_score} or more.`,
      next: 'Ask with other words or a smaller min_score, or for the classic list.',
    };
  };
}
