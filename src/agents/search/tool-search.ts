/**
 * `tool_search`: from what an agent wants to do to the tools that do it. The rules rank, in no time and without a model; a
 * model may reorder. Nothing found for sure is a question to ask, never a guess.
 */
import { firstSentence } from '../../core/catalog/summary.js';
import type { Tool } from '../../core/catalog/tool.js';
import { type Layer, type RankedTool, rank } from '../../core/search/rank.js';
import { withSpan } from '../../core/spans.js';
import { oneLine } from '../../core/visible-text.js';
import type { SearchMatch, SearchOutput, SearchRequest } from '../contracts.js';
import type { IndexRefusal, OpenIndex } from '../index/tool-index.js';
import { openFor, type SearchCaller, type SearchParts } from './caller.js';
import { clarifyingQuestion } from './clarify.js';
import { RERANKED_TOOLS, type RerankOptions, rerank } from './rerank.js';

export interface ToolSearchParts extends SearchParts {
  /** A model that may reorder. Default: none, the rules' order stands. */
  rerank?: RerankOptions | undefined;
  /** Below it a first match counts as not sure, between 0 and 1. Default: 0.22. */
  minConfidence?: number | undefined;
}

export type ToolSearch = (request: SearchRequest, caller: SearchCaller) => Promise<SearchOutput>;

/** Most tools of each scope where they are counted apart and no numbers are asked for. */
const PER_SCOPE = { system: 3, user: 5 };
/** Found by trial: right first matches of the coding-agent catalogue lie above, matches by one stray word below. */
const DEFAULT_MIN_CONFIDENCE = 0.22;
const MAX_DESCRIPTION_CHARACTERS = 300;

/** @returns a function that throws WinnowError `cancelled` only. */
export function createToolSearch(parts: ToolSearchParts): ToolSearch {
  const { minConfidence = DEFAULT_MIN_CONFIDENCE } = parts;
  return (request, caller) =>
    withSpan('winnow.search', { 'winnow.top_k': request.top_k }, async (note) => {
      const { query } = request;
      const opened = openFor(parts, caller);
      if (!opened.ok) return refused(query, opened);
      const found = findByRules(request, opened, { parts, caller });
      const { ranked, ...opinion } = await withOpinion(query, found, { parts, caller });
      const matches = ranked.slice(0, limitOf(request)).map((one) => toMatch(one, caller));
      const confidence = opinion.confidence ?? found[0]?.score ?? 0;
      const isSure = found.length > 0 && confidence >= minConfidence && !opinion.needsClarification;
      note.set({ 'winnow.matches': matches.length, 'winnow.ranked_by': opinion.ranked_by });
      return {
        query,
        matches,
        ranked_by: opinion.ranked_by,
        ...(opinion.degraded === undefined ? {} : { degraded: opinion.degraded }),
        ...(opinion.intent === undefined ? {} : { intent: opinion.intent }),
        confidence,
        index: opened.state,
        ...(isSure
          ? {}
          : { need_clarification: { question: clarifyingQuestion(query, found, layersOf(opened.layers)) } }),
        fallback: { suggestion: suggestion(found.length > 0) },
      };
    });
}

interface Around {
  parts: ToolSearchParts;
  caller: SearchCaller;
}

/** More than is asked for where a model orders them. */
function findByRules(request: SearchRequest, { layers }: OpenIndex, { parts, caller }: Around): RankedTool[] {
  const { own, system } = layers;
  const limit = limitOf(request);
  const wide = parts.rerank ? Math.max(limit, RERANKED_TOOLS) : limit;
  const scopes = scopesOf(request);
  const limits = scopes && (own ? [scopes.user, scopes.system] : [scopes.system]);
  return rank(request.query, layersOf({ own, system }), {
    limit: scopes ? limit : wide,
    limits,
    synonyms: parts.synonyms(),
    learnt: parts.learnt?.(caller),
  });
}

function layersOf({ own, system }: OpenIndex['layers']): Layer[] {
  return own ? [own, system] : [system];
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

function toMatch({ tool, score, why }: RankedTool, { isEnabled }: SearchCaller): SearchMatch {
  return {
    name: tool.name,
    ...(tool.category === undefined ? {} : { category: tool.category }),
    toolType: tool.toolType,
    risk: tool.risk,
    description: describe(tool),
    enabled: isEnabled(tool),
    score,
    why_matched: why.map(({ word, fields }) => ({ word, fields: [...fields] })),
  };
}

const described = new WeakMap<Tool, string>();

/** On one line, and not too long; made once a tool. */
function describe(tool: Tool): string {
  const known = described.get(tool);
  if (known !== undefined) return known;
  const line = oneLine(tool.description);
  const text = line.length <= MAX_DESCRIPTION_CHARACTERS ? line : shortened(line);
  described.set(tool, text);
  return text;
}

/** To its first sentence, and that to its beginning, with a mark: the whole schema and text come when it is enabled. */
function shortened(text: string): string {
  const sentence = firstSentence(text);
  if (sentence.length <= MAX_DESCRIPTION_CHARACTERS) return `${sentence} …`;
  return `${[...sentence].slice(0, MAX_DESCRIPTION_CHARACTERS).join('')}…`;
}

function suggestion(isFound: boolean): string {
  return isFound
    ? 'Enable what fits with tool_enable, then call it. If nothing fits, search again with other words: what is to be done, and with what.'
    : 'Search again with other words: a verb and the thing it is done to. If that finds nothing either, ask the user.';
}

function refused(query: string, { code, reason, next }: IndexRefusal): SearchOutput {
  return { query, matches: [], ranked_by: 'rules', error: { code, reason, next }, fallback: { suggestion: next } };
}
