/**
 * A query -> ranked, explained tools. All numbers come from the tools that the caller may see: the answer is the one that
 * an index without the hidden tools would give.
 */
import type { Tool } from '../catalog/tool.js';
import { keepBest } from './best.js';
import { explain, type WhyMatched } from './explain.js';
import { isVisible, type Layer, toolAt } from './layer.js';
import { type Memory, memoryOf } from './memory.js';
import { parseQuery, type Unit } from './query.js';
import { collect, type ReadUnit, weigh } from './score.js';
import type { SynonymTable } from './synonyms.js';

export interface RankedTool {
  readonly tool: Tool;
  /** Between 0 and 1: how much of what the query says the tool is about, by the rarity of the words. */
  readonly score: number;
  /** Found when it is asked for: selection never does. */
  readonly why: readonly WhyMatched[];
}

/** What use has taught: it raises tools that match, and lets a word stand for a tool. */
export interface Learnt {
  /** Factor on the score of a tool, at least 1. */
  boost(name: string): number;
  /** Tools that the term has come to stand for, each with a weight between 0 and 1. */
  toolsOf(term: string): ReadonlyMap<string, number>;
}

export interface RankOptions {
  /** Most tools of all layers together. */
  limit: number;
  /** Most tools of each layer, in their order. Default: `limit`. */
  limits?: readonly number[] | undefined;
  synonyms: SynonymTable;
  /** Default: nothing was learnt. */
  learnt?: Learnt | undefined;
}

/** For a tool that the query names. */
const NAME_BONUS = 0.5;
/** A word that has come to stand for a tool is worth nearly as much as its name. */
const LEARNT_SHARE = 0.6;

/** Best first; ties keep the order of the layers and of their catalogues. */
export function rank(query: string, layers: readonly Layer[], options: RankOptions): RankedTool[] {
  const { synonyms, learnt, limit } = options;
  const memory = memoryOf(layers, synonyms);
  const { statistics } = memory;
  const isKeyPhrase = (phrase: string) => statistics.toolsWith(phrase) > 0;
  const units = parseQuery(query, { synonyms, isKeyPhrase }).map((unit) => read(unit, memory, learnt));
  const weighed = weigh(layers, units, statistics);
  const ranked = layers.map((layer, place) => {
    const most = options.limits?.[place] ?? limit;
    const best = keepBest<number>(most, (one, other) => one < other);
    const scoreOf = scoreFor(layer, { query, potential: weighed.potential, learnt });
    collect(weighed, best, { layer, place, limit: most, scoreOf });
    return best.items().map(({ score, item }) => ({ hit: { layer, place, document: item }, score }));
  });
  // The sort is stable: between equals the first layer goes first.
  const best = ranked.flat().sort((one, other) => other.score - one.score);
  return best.slice(0, limit).map(({ hit, score }) => ({
    tool: toolAt(hit.layer, hit.document),
    score: Math.round(Math.min(1, score) * 1000) / 1000,
    get why() {
      return explain(hit, units);
    },
  }));
}

interface Scoring {
  query: string;
  potential: number;
  learnt: Learnt | undefined;
}

/** Undefined: the sum says it all. */
function scoreFor(layer: Layer, { query, potential, learnt }: Scoring) {
  const named = namedIn(query, layer);
  if (named.size === 0 && !learnt) return undefined;
  return (document: number, sum: number) => {
    const bonus = named.has(document) ? NAME_BONUS : 0;
    const boost = learnt ? learnt.boost(toolAt(layer, document).name) : 1;
    return (sum / potential + bonus) * boost;
  };
}

function read(unit: Unit, memory: Memory, learnt: Learnt | undefined): ReadUnit {
  const { text, importance, own } = unit;
  return { ...memory.find(unit), text, importance, learnt: learnt ? byUse(own, learnt) : NOTHING };
}

const NOTHING: ReadonlyMap<string, number> = new Map();

function byUse(terms: readonly string[], learnt: Learnt): ReadonlyMap<string, number> {
  const weights = new Map<string, number>();
  for (const [name, weight] of terms.flatMap((term) => [...learnt.toolsOf(term)])) {
    weights.set(name, Math.max(weights.get(name) ?? 0, weight * LEARNT_SHARE));
  }
  return weights;
}

/** Tools whose name or alias stands in the query as an identifier does, or is all of it. */
function namedIn(query: string, layer: Layer): ReadonlySet<number> {
  const identifiers = (query.toLowerCase().match(/[\p{L}\p{N}_.:/-]+/gu) ?? []).filter((word) => /[_.:/-]/u.test(word));
  const names = new Set([...identifiers, query.trim().toLowerCase()]);
  const places = [...names].flatMap((name) => layer.segment.byName.get(name) ?? []);
  return new Set(places.filter((document) => isVisible(layer, document)));
}
