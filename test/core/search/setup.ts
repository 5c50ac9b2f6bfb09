/** Layers for the tests of ranking. */
import type { Tool } from '../../../src/core/catalog/tool.js';
import { runWhole } from '../../../src/core/in-slices.js';
import { buildSegment, fieldWeightsSchema, type Segment } from '../../../src/core/search/keyword-index.js';
import type { Layer } from '../../../src/core/search/layers.js';
import { type RankedTool, rank } from '../../../src/core/search/rank.js';
import { createSynonymTable } from '../../../src/core/search/synonyms.js';

export const NO_SYNONYMS = createSynonymTable([], []);
export const SYNONYMS = createSynonymTable();

export function segmentOf(tools: readonly Tool[], weights = {}): Segment {
  return runWhole(buildSegment(tools, fieldWeightsSchema.parse(weights)));
}

export function layerOf(tools: readonly Tool[], isVisible?: (tool: Tool) => boolean): Layer {
  const segment = segmentOf(tools);
  return isVisible ? { segment, visible: Uint8Array.from(tools, (tool) => (isVisible(tool) ? 1 : 0)) } : { segment };
}

export function ranked(...query: Parameters<typeof rank>): RankedTool[] {
  return runWhole(rank(...query));
}
