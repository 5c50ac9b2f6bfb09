/** The index of tools over HTTP: its state, reading the catalogue and building anew, and its way to another process. For operators. */
import { z } from 'zod';
import { DEFAULT_MAX_SNAPSHOT_BYTES, SNAPSHOT_LEVELS, snapshotSchema } from '../../../agents/index/snapshot.js';
import { importedIndexSchema, indexStatusSchema } from '../../../agents/index/tool-index.js';
import { givenWeightsSchema } from '../../../agents/index/weights-keeper.js';
import { catalogReloadSchema } from '../../../agents/live-catalog.js';
import { requireOperator } from '../caller.js';
import type { Agents } from './agents.js';
import { type Route, route } from './route.js';

const rebuildInputSchema = z.strictObject({ weights: givenWeightsSchema.optional() });
const rebuiltSchema = indexStatusSchema.extend({
  catalog: catalogReloadSchema.optional().describe('What became of the sources; absent where they are fixed.'),
});
const exportQuerySchema = z.strictObject({
  level: z.enum(SNAPSHOT_LEVELS).default('meta').describe('meta: what it was made of; full: the index itself, too.'),
  max_bytes: z.int().min(1).max(DEFAULT_MAX_SNAPSHOT_BYTES).optional().describe('A larger full one becomes meta.'),
});
const SNAPSHOT = { name: 'IndexSnapshot', schema: snapshotSchema };
/** For what stands around the index in the body. */
const ENVELOPE_BYTES = 1_048_576;

export function indexRoutes({ index, rebuild }: Pick<Agents, 'index' | 'rebuild'>): Route[] {
  return [
    route({
      method: 'GET',
      path: '/v1/index',
      operationId: 'getIndex',
      summary: 'The state of the index of tools; for operators',
      answer: { name: 'IndexStatus', schema: indexStatusSchema },
      handle({ caller }) {
        requireOperator(caller);
        return index.status();
      },
    }),
    route({
      method: 'POST',
      path: '/v1/index/rebuild',
      operationId: 'rebuildIndex',
      summary: 'Read the catalogue anew and build the index of it; for operators',
      description:
        'Answers when the index has settled; searches are answered by the last one meanwhile. A source that can not be read ' +
        'keeps the tools that it gave before, and is listed under `catalog.kept`. `weights` are kept in the store: they hold ' +
        'after a restart, and within seconds for all servers on it, before those of the configuration.',
      body: { name: 'RebuildIndexRequest', schema: rebuildInputSchema },
      answer: { name: 'RebuiltIndex', schema: rebuiltSchema },
      handle({ body, caller }) {
        requireOperator(caller);
        return rebuild({ weights: body.weights, by: caller?.user });
      },
    }),
    route({
      method: 'GET',
      path: '/v1/index/snapshot',
      operationId: 'exportIndex',
      summary: 'The index as one document, for another process; for operators',
      query: exportQuerySchema,
      answer: SNAPSHOT,
      handle({ query, caller }) {
        requireOperator(caller);
        return index.exportSnapshot({ level: query.level, maxBytes: query.max_bytes });
      },
    }),
    route({
      method: 'POST',
      path: '/v1/index/snapshot',
      operationId: 'importIndex',
      summary: 'Take over an index that was built elsewhere, if it is of the same tools and weights; for operators',
      body: { name: 'IndexSnapshotInput', schema: z.unknown().describe('As GET /v1/index/snapshot answers it.') },
      bodyLimitBytes: DEFAULT_MAX_SNAPSHOT_BYTES + ENVELOPE_BYTES,
      answer: { name: 'ImportedIndex', schema: importedIndexSchema },
      handle({ body, caller }) {
        requireOperator(caller);
        return index.importSnapshot(body);
      },
    }),
  ];
}
