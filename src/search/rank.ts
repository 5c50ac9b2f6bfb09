/**
 * A query -> ranked, explained tools. All numbers come from the tools that the caller may see: the answer is the one that
 * an index without the hidden tools would give.
 */
import type { Tool } from '../catalog/tool.js';
import { keepBest } from './best.js';
import { explain, type WhyMatched } from './explain.js';
import { createWordStatistics, isVisible, type Layer, toolAt } from './layer.js';
import { parseQuery, type Unit } from './query.js';
import { type ReadingParts, readingsOf } from './readings.js';
import { type ReadUnit, scoreLayers } from './score.js';
import type { SynonymTable } from './synonyms.js';

export interface RankedTool {
  readonly tool: Tool;
  /** Between 0 and 1: how much of what the query says the tool is about, by the rarity of the words. */
  readonly score: number;
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
  const statistics = createWordStatistics(layers);
  const parts = { statistics, synonyms, segments: layers.map(({ segment }) => segment) };
  const isKeyPhrase = (phrase: string) => statistics.toolsWith(phrase) > 0;
  const units = parseQuery(query, { synonyms, isKeyPhrase }).map((unit) => read(unit, parts, learnt));
  const scored = scoreLayers(layers, units, statistics);
  const ranked = layers.map((layer, place) => {
    const best = keepBest<number>(options.limits?.[place] ?? limit, (one, other) => one < other);
    const named = namedIn(query, layer);
    scored.visit(layer, (document, sum) => {
      const bonus = named.size > 0 && named.has(document) ? NAME_BONUS : 0;
      const boost = learnt ? learnt.boost(toolAt(layer, document).name) : 1;
      const score = (sum / scored.potential + bonus) * boost;
      if (best.takes(score)) best.add(score, document);
    });
    return best.items().map(({ score, item }) => ({ layer, document: item, score }));
  });
  // The sort is stable: between equals the first layer goes first.
  const best = ranked.flat().sort((one, other) => other.score - one.score);
  return best.slice(0, limit).map(({ layer, document, score }) => ({
    tool: toolAt(layer, document),
    score: Math.round(Math.min(1, score) * 1000) / 1000,
    why: explain(layer, document, units),
  }));
}

function read(unit: Unit, parts: ReadingParts, learnt: Learnt | undefined): ReadUnit {
  const byUse = new Map<string, number>();
  for (const [name, weight] of learnt ? unit.own.flatMap((term) => [...learnt.toolsOf(term)]) : []) {
    byUse.set(name, Math.max(byUse.get(name) ?? 0, weight * LEARNT_SHARE));
  }
  return { text: unit.text, importance: unit.importance, readings: readingsOf(unit, parts), learnt: byUse };
}

/** Tools whose name or alias stands in the query as an identifier does, or is all of it. */
function namedIn(query: string, layer: Layer): ReadonlySet<number> {
  const identifiers = (query.toLowerCase().match(/[\p{L}\p{N}_.:/-]+/gu) ?? []).filter((word) => /[_.:/-]/u.test(word));
  const names = new Set([...identifiers, query.trim().toLowerCase()]);
  const places = [...names].flatMap((name) => layer.segment.byName.get(name) ?? []);
  return new Set(places.filter((document) => isVisible(layer, document)));
}
