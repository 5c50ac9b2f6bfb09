/**
 * `tool_search`: from what an agent wants to do to the tools that do it. Rules rank quickly and without a model; a
 * model may reorder. Without a certain match the answer is a question, never a guess.
 */

import { withoutUndefined } from '../../core/catalog/schema/json.js';
import { shownTexts, shownTool } from '../../core/catalog/shown.js';
import { firstSentence } from '../../core/catalog/summary.js';
import type { Tool } from '../../core/catalog/tool.js';
import { WinnowError } from '../../core/errors.js';
import { runInSlices } from '../../core/in-slices.js';
import { oncePer } from '../../core/kept.js';
import { renderType } from '../../core/planning/render-tool.js';
import type { Layer } from '../../core/search/layers.js';
import { type Learnt, type RankedTool, type RankOptions, rank } from '../../core/search/rank.js';
import type { SynonymTable } from '../../core/search/synonyms.js';
import { withSpan } from '../../core/spans.js';
import { oneLine } from '../../core/visible-text.js';
import {
  type ListOutput,
  type ListRequest,
  refusedSearch,
  type SearchMatch,
  type SearchOutput,
  type SearchRequest,
} from '../contracts.js';
import { toListed } from '../hand-out.js';
import type { Audience } from '../index/audience.js';
import type { IndexRefusal, OpenIndex, ToolIndex } from '../index/tool-index.js';
import type { SessionContext } from '../parts.js';
import { clarifyingQuestion } from './clarify.js';
import type { FindDownServers } from './down-servers.js';
import { RERANKED_TOOLS, type RerankOptions, rerank } from './rerank.js';

export type ToolSearch = (request: SearchRequest, caller: SearchCaller) => Promise<SearchOutput>;

/** Default number of tools per scope, where scopes are counted separately. */
const PER_SCOPE = { system: 3, user: 5 };
/** A certain match. By trial: right first matches of the coding-agent catalogue reach it, matches by one word don't. */
const MIN_CONFIDENCE = 0.22;
/** Limit of a description and of a signature; enabling a tool returns them whole. */
const MAX_CHARACTERS = 300;

/** @returns a function that throws WinnowError `cancelled` only. */
export function createToolSearch(parts: SearchParts): ToolSearch {
  return (request, caller) =>
    withSpan('winnow.search', { 'winnow.top_k': request.top_k }, async (note) => {
      const { query } = request;
      const opened = openFor(parts, caller);
      if (!opened.ok) return refusedSearch(query, opened);
      const found = await findByRules(request, opened, { parts, caller });
      const { ranked, ...opinion } = await withOpinion(query, found, { parts, caller });
      const matches = ranked.slice(0, limitOf(request)).map((one) => toMatch(one, { caller, detail: request.detail }));
      const confidence = opinion.confidence ?? found[0]?.score ?? 0;
      const isSure = found.length > 0 && confidence >= MIN_CONFIDENCE && !opinion.needsClarification;
      note.set({ 'winnow.matches': matches.length, 'winnow.ranked_by': opinion.ranked_by });
      const { ranked_by, degraded, intent } = opinion;
      const question = isSure ? undefined : clarifyingQuestion(query, found, layersOf(opened.layers));
      return withoutUndefined({
        ...{ query, matches, ranked_by, degraded, intent, confidence },
        index: opened.state,
        down: parts.down?.(caller.isAllowed),
        need_clarification: question === undefined ? undefined : { question },
        fallback: { suggestion: suggestion(found.length > 0) },
      });
    });
}

interface Around {
  parts: SearchParts;
  caller: SearchCaller;
}

/** Returns more than requested where a model reranks. */
function findByRules(request: SearchRequest, { layers }: OpenIndex, { parts, caller }: Around): Promise<RankedTool[]> {
  const limit = limitOf(request);
  const wide = parts.rerank ? Math.max(limit, RERANKED_TOOLS) : limit;
  const scopes = scopesOf(request);
  const limits = scopes && (layers.own ? [scopes.user, scopes.system] : [scopes.system]);
  return rankIn(layersOf(layers), request.query, { limit: scopes ? limit : wide, limits }, { parts, caller });
}

function layersOf({ own, system }: OpenIndex['layers']): Layer[] {
  return own ? [own, system] : [system];
}

function rankIn(
  layers: readonly Layer[],
  query: string,
  limits: Pick<RankOptions, 'limit' | 'limits'>,
  { parts, caller }: Around,
): Promise<RankedTool[]> {
  const known = { synonyms: parts.synonyms(), learnt: parts.learnt?.(caller) };
  return runInSlices(rank(query, layers, { ...limits, ...known }));
}

function scopesOf({ per_scope }: SearchRequest): { system: number; user: number } | undefined {
  if (per_scope === false) return undefined;
  return per_scope === true ? PER_SCOPE : per_scope;
}

function limitOf(request: SearchRequest): number {
  const scopes = scopesOf(request);
  return scopes ? scopes.system + scopes.user : request.top_k;
}

interface Ordered {
  readonly ranked: readonly RankedTool[];
  readonly ranked_by: SearchOutput['ranked_by'];
  readonly degraded?: string;
  readonly intent?: string;
  readonly confidence?: number;
  readonly needsClarification?: boolean;
}

async function withOpinion(query: string, found: readonly RankedTool[], { parts, caller }: Around): Promise<Ordered> {
  if (!parts.rerank || found.length < 2) return { ranked: found, ranked_by: 'rules' };
  const opinion = await rerank(query, found, { ...parts.rerank, signal: caller.signal });
  if (!opinion.isUsed) return { ranked: found, ranked_by: 'rules', degraded: opinion.reason };
  const { order, intent, confidence, needsClarification } = opinion;
  return { ranked: order, ranked_by: 'model', intent, confidence, needsClarification };
}

function toMatch(
  { tool, score, why }: RankedTool,
  { caller, detail }: { caller: SearchCaller; detail: SearchRequest['detail'] },
): SearchMatch {
  const { name, toolType, risk } = tool;
  const { category, description } = shownTexts(tool);
  const isWhole = detail === 'schema';
  return withoutUndefined({
    ...{ name, category, toolType, risk },
    description: isWhole ? description : describe(tool),
    signature: signatureOf(tool),
    inputSchema: isWhole ? shownTool(tool).inputSchema : undefined,
    enabled: caller.isEnabled(tool),
    score,
    why_matched: why.map(({ word, fields }) => ({ word, fields: [...fields] })),
  });
}

/** The first sentence or its beginning, with a mark where there is more, since agents pay for each token. */
const describe = oncePer((tool: Tool): string => {
  const line = oneLine(shownTexts(tool).description);
  const sentence = firstSentence(line);
  if (sentence.length > MAX_CHARACTERS) return cut(sentence);
  return sentence.length === line.length ? line : `${sentence} …`;
});

const signatureOf = oncePer(({ inputSchema }: Tool): string => {
  const type = renderType(inputSchema, inputSchema, { comments: false });
  return type.length > MAX_CHARACTERS ? cut(type) : type;
});

function cut(text: string): string {
  return `${[...text].slice(0, MAX_CHARACTERS).join('')}…`;
}

function suggestion(isFound: boolean): string {
  return isFound
    ? 'Enable what fits with tool_enable, then call it. If nothing fits, search again with other words: what is to be done, and with what.'
    : 'Search again with other words: a verb and the thing it is done to. If that finds nothing either, ask the user.';
}

// The caller of a search, as the router passes it, and the parts of a search.

/** A session without its id, which search does not need. */
export type SearchCaller = Omit<SessionContext, 'session'>;

export interface SearchParts {
  index: ToolIndex;
  /** All current tools, with private ones; called for each search, so that the index follows changes. */
  tools: () => readonly Tool[];
  /** The current synonyms. */
  synonyms: () => SynonymTable;
  /** What was learnt from use for this person, their project and all users. Default: nothing. */
  learnt?: ((who: Pick<SearchCaller, 'user' | 'project'>) => Learnt | undefined) | undefined;
  /** Servers that are down, limited to those that the caller may know of. Default: none. */
  down?: FindDownServers | undefined;
  /** A model that may reorder matches. Default: none, the rules' order stands. */
  rerank?: RerankOptions | undefined;
}

function openFor({ index, tools }: SearchParts, caller: SearchCaller): OpenIndex | IndexRefusal {
  index.setTools(tools());
  const audience: Audience = { user: caller.user, allows: caller.isAllowed, key: caller.audience };
  return index.open(audience);
}

// Narrow lists: the tools that fit a query best, with schemas and scores. If they are not available, the answer says
// why; it never falls back to all tools.

/** @returns a function that throws WinnowError `invalid_request` for a list without a query. */
export function createNarrowLists(parts: SearchParts) {
  return async (request: ListRequest, caller: SearchCaller): Promise<ListOutput> => {
    const { query, top_k = 8, min_score = 0.15 } = request;
    if (query === undefined) {
      const issues = ['query: say what is to be done, a narrow list is made for it'];
      throw new WinnowError('invalid_request', `The request is not usable: ${issues[0]}.`, { issues });
    }
    const opened = openFor(parts, caller);
    if (!opened.ok) return opened;
    const ranked = await rankIn(layersOf(opened.layers), query, { limit: top_k }, { parts, caller });
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
