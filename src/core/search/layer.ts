/** A segment as one caller sees it: which tools, and how rare each word is among those. */
import type { Tool } from '../catalog/tool.js';
import type { Segment } from './segment.js';

export interface Layer {
  readonly segment: Segment;
  /** 1 where the tool may be seen; absent: all may. */
  readonly visible?: Uint8Array | undefined;
}

export interface WordStatistics {
  /** How many visible tools have the term. */
  toolsWith(term: string): number;
  /** What it says that so many of the visible tools are found: the weight of Robertson and Spärck Jones, never below 0. */
  rarityOf(count: number): number;
}

/** Words of hidden tools are unknown, and hidden tools are not counted. */
export function createWordStatistics(layers: readonly Layer[]): WordStatistics {
  const tools = layers.reduce((sum, layer) => sum + countVisible(layer), 0);
  const known = new Map<string, number>();
  return {
    toolsWith(term) {
      const count = known.get(term) ?? layers.reduce((sum, layer) => sum + countWith(layer, term), 0);
      // What people may ask for is without end; what tools have is not.
      if (count > 0) known.set(term, count);
      return count;
    },
    rarityOf: (count) => Math.log(1 + (tools - Math.min(count, tools) + 0.5) / (count + 0.5)),
  };
}

const counted = new WeakMap<Uint8Array, number>();

function countVisible({ segment, visible }: Layer): number {
  if (!visible) return segment.tools.length;
  const count = counted.get(visible) ?? visible.reduce((sum, one) => sum + one, 0);
  counted.set(visible, count);
  return count;
}

function countWith({ segment: { postings, numbers }, visible }: Layer, term: string): number {
  const number = numbers.get(term);
  if (number === undefined) return 0;
  const start = postings.starts[number] ?? 0;
  const end = postings.starts[number + 1] ?? start;
  if (!visible) return end - start;
  let count = 0;
  for (let place = start; place < end; place++) count += visible[postings.documents[place] ?? 0] ?? 0;
  return count;
}

export function isVisible({ visible }: Layer, document: number): boolean {
  return visible === undefined || visible[document] === 1;
}

export function toolAt({ segment }: Layer, document: number): Tool {
  const tool = segment.tools[document];
  if (!tool) throw new RangeError(`There is no tool ${document}: the index and its tools do not belong together.`);
  return tool;
}
