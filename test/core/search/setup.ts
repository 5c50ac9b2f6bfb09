/** Layers and tables for the tests of ranking. */
import type { Tool } from '../../../src/core/catalog/tool.js';
import { fieldWeightsSchema } from '../../../src/core/search/fields.js';
import { GENERAL_SYNONYMS } from '../../../src/core/search/general-synonyms.js';
import type { Layer } from '../../../src/core/search/layer.js';
import { buildSegment, runWhole, type Segment } from '../../../src/core/search/segment.js';
import { createSynonymTable, GENERAL_WEIGHT, OWN_WEIGHT, type Synonyms } from '../../../src/core/search/synonyms.js';

export const NO_SYNONYMS = createSynonymTable([]);

export function tableOf(own: Synonyms, general: Synonyms = []) {
  return createSynonymTable([
    { synonyms: general, weight: GENERAL_WEIGHT },
    { synonyms: own, weight: OWN_WEIGHT },
  ]);
}

export const generalTable = () => tableOf([], GENERAL_SYNONYMS);

export function segmentOf(tools: readonly Tool[], weights = {}): Segment {
  return runWhole(buildSegment(tools, fieldWeightsSchema.parse(weights)));
}

export function layerOf(tools: readonly Tool[], isVisible?: (tool: Tool) => boolean): Layer {
  const segment = segmentOf(tools);
  return isVisible ? { segment, visible: Uint8Array.from(tools, (tool) => (isVisible(tool) ? 1 : 0)) } : { segment };
}
