/** What can be set about the index of a server. */
import { z } from 'zod';
import { parseOptions } from '../../core/parse.js';
import { fieldWeightsSchema } from '../../core/search/keyword-index.js';
import { DEFAULT_MAX_SNAPSHOT_BYTES, SNAPSHOT_LEVELS } from './snapshot.js';

export const indexSettingsSchema = z.strictObject({
  weights: fieldWeightsSchema.prefault({}).describe('How much a word counts in each field; only proportions matter.'),
  whileBuilding: z
    .enum(['previous', 'refuse'])
    .default('previous')
    .describe('What answers while the next index is built: the last one, or `index_building`.'),
  snapshot: z
    .enum(SNAPSHOT_LEVELS)
    .default('none')
    .describe('What is kept in the store after each build; a full one is taken over at the next start, where it fits.'),
  maxSnapshotBytes: z.int().min(1).default(DEFAULT_MAX_SNAPSHOT_BYTES).describe('A larger one is kept as `meta`.'),
});
export type IndexSettings = z.output<typeof indexSettingsSchema>;

/** @throws WinnowError `invalid_option` naming each field that is wrong. */
export function parseIndexSettings(input: unknown): IndexSettings {
  return parseOptions(indexSettingsSchema, input, 'index');
}
