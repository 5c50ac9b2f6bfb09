/** Settings of a server's index. */

import { z } from 'zod';
import { toWinnowError, WinnowError } from '../../core/errors.js';
import { parseOptions } from '../../core/parse.js';
import { fieldWeightsSchema } from '../../core/search/keyword-index.js';
import type { WriteAudit } from '../ledger.js';
import { reportOnce } from '../merged-documents.js';
import type { Documents } from '../store/sql/keyed-records.js';
import { DEFAULT_MAX_SNAPSHOT_BYTES, SNAPSHOT_LEVELS } from './snapshot.js';
import type { ImportedIndex, ToolIndex } from './tool-index.js';

export const indexSettingsSchema = z.strictObject({
  weights: fieldWeightsSchema.prefault({}).describe('How much a word counts in each field; only proportions matter.'),
  whileBuilding: z
    .enum(['previous', 'refuse'])
    .default('previous')
    .describe('What answers while the next index is built: the last one, or `index_building`.'),
  snapshot: z
    .enum(SNAPSHOT_LEVELS)
    .default('none')
    .describe('Snapshot that the store keeps after each build; the next start reuses a full one that still fits.'),
  maxSnapshotBytes: z.int().min(1).default(DEFAULT_MAX_SNAPSHOT_BYTES).describe('A larger one is kept as `meta`.'),
});
type IndexSettings = z.output<typeof indexSettingsSchema>;

/** @throws WinnowError `invalid_option` naming each field that is wrong. */
export function parseIndexSettings(input: unknown): IndexSettings {
  return parseOptions(indexSettingsSchema, input, 'index');
}

// Preserves the index across restarts: the store keeps the last build, and the next start reuses it where it still
// fits.

interface SnapshotKeeperParts extends Pick<IndexSettings, 'snapshot' | 'maxSnapshotBytes'> {
  index: ToolIndex;
  store: Documents;
  /** Called when a snapshot can't be stored or restored; the index works without. */
  onFailure?: ((error: WinnowError) => void) | undefined;
  /** Default: the system clock. */
  clock?: (() => Date) | undefined;
}

const OWNER = 'index';
const NAME = 'latest';

export type SnapshotKeeper = ReturnType<typeof createSnapshotKeeper>;

export function createSnapshotKeeper(parts: SnapshotKeeperParts) {
  const { index, store, snapshot: level, maxSnapshotBytes: maxBytes, onFailure, clock = () => new Date() } = parts;
  let kept: string | undefined;

  async function quietly<T>(work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      onFailure?.(toWinnowError(error));
      return undefined;
    }
  }

  return {
    /** Restores the stored snapshot. Undefined: there is none, or it is broken. */
    restore: (): Promise<ImportedIndex | undefined> =>
      quietly(async () => {
        const document = await store.get(OWNER, NAME);
        if (!document) return undefined;
        const imported = await index.importSnapshot(document.content);
        if (imported.snapshot === 'taken') kept = imported.fingerprint;
        return imported;
      }),

    /** Stores the current index, if it is ready and not stored yet. Never throws. */
    async save(): Promise<void> {
      await quietly(async () => {
        const { state, fingerprint } = index.status();
        if (level === 'none' || state !== 'ready' || fingerprint === kept) return;
        const content = index.exportSnapshot({ level, maxBytes });
        await store.put({ owner: OWNER, name: NAME, content, updatedAt: clock().toISOString() });
        kept = fingerprint;
      });
    },
  };
}

// Weights that an operator set at run time. The store keeps them for restarts and for its other servers. They override
// those of the configuration until they are reset.

export const givenWeightsSchema = fieldWeightsSchema
  .nullable()
  .describe('How much a word counts in each field from now on; missing fields get their default. null: as configured.');
export type GivenWeights = z.output<typeof givenWeightsSchema>;

/** Another version of the server may have stored fields that this one does not know. */
const keptWeightsSchema = fieldWeightsSchema.strip();

export interface WeightsKeeperParts {
  index: Pick<ToolIndex, 'setWeights'>;
  store: Documents;
  /** Used where none are stored. Default: those of `fieldWeightsSchema`. */
  configured?: z.input<typeof fieldWeightsSchema> | undefined;
  /** Called once for stored weights that are not usable; `configured` then applies. Default: not reported. */
  onUnusable?: ((error: WinnowError) => void) | undefined;
  audit: WriteAudit;
  clock?: (() => Date) | undefined;
}

const WEIGHTS = 'weights';
const PLACE = 'weights in the store';

export function createWeightsKeeper(parts: WeightsKeeperParts) {
  const { index, store, configured = {}, onUnusable, audit, clock = () => new Date() } = parts;
  const report = reportOnce(onUnusable, ({ message }) => message);
  let last: Promise<unknown> = Promise.resolve();

  /** Runs one at a time: an older read must not overwrite a later change. */
  function inTurn(work: () => Promise<void>): Promise<void> {
    const turn = last.then(work);
    last = turn.catch(() => undefined);
    return turn;
  }

  /** Another version may have stored fields that only it knows; that must not stop this one. */
  function read(content: unknown): z.input<typeof fieldWeightsSchema> {
    try {
      return parseOptions(keptWeightsSchema, content, PLACE);
    } catch (error) {
      if (!(error instanceof WinnowError)) throw error;
      report(error);
      return configured;
    }
  }

  return {
    /** Applies the weights that are in the store now. @throws WinnowError `store_failed` */
    refresh: () =>
      inTurn(async () => {
        const kept = await store.get(OWNER, WEIGHTS);
        index.setWeights(kept ? read(kept.content) : configured);
      }),

    /** @throws WinnowError `store_failed`; the old ones then stay */
    set: (weights: GivenWeights, by?: string) =>
      inTurn(async () => {
        if (weights) {
          await store.put({ owner: OWNER, name: WEIGHTS, content: weights, updatedAt: clock().toISOString() });
        } else await store.remove(OWNER, WEIGHTS);
        const reason = weights ? JSON.stringify(weights) : 'Those of the configuration again.';
        await audit({ event: 'index_weighed', outcome: 'allowed', user: by, reason });
        index.setWeights(weights ?? configured);
      }),
  };
}
