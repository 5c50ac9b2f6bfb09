/**
 * Weights that an operator gave while the server ran: kept in the store, so that a restart and the other servers on it
 * have them, too. They hold before those of the configuration, until they are taken back.
 */
import type { z } from 'zod';
import { WinnowError } from '../../core/errors.js';
import { parseOptions } from '../../core/parse.js';
import { fieldWeightsSchema } from '../../core/search/keyword-index.js';
import type { Documents } from '../store/store.js';
import { tellOnce } from '../tell-once.js';
import type { WriteAudit } from '../write-audit.js';
import type { ToolIndex } from './tool-index.js';

export const givenWeightsSchema = fieldWeightsSchema
  .nullable()
  .describe('How much a word counts in each field from now on; what is left out has its default. null: as configured.');
export type GivenWeights = z.output<typeof givenWeightsSchema>;

/** Another version of the server may have fields that this one does not know. */
const keptWeightsSchema = fieldWeightsSchema.strip();

export interface WeightsKeeperParts {
  index: Pick<ToolIndex, 'setWeights'>;
  store: Documents;
  /** They hold where none are kept. Default: those of `fieldWeightsSchema`. */
  configured?: z.input<typeof fieldWeightsSchema> | undefined;
  /** Told of kept weights that are not usable, once; those of `configured` then hold. Default: nothing is told. */
  onUnusable?: ((error: WinnowError) => void) | undefined;
  audit: WriteAudit;
  clock?: (() => Date) | undefined;
}

export interface WeightsKeeper {
  /** Takes over what is in the store now. @throws WinnowError `store_failed` */
  refresh(): Promise<void>;
  /** @throws WinnowError `store_failed`; the old ones then stay */
  set(weights: GivenWeights, by?: string): Promise<void>;
}

const OWNER = 'index';
const NAME = 'weights';
const PLACE = 'weights in the store';

export function createWeightsKeeper(parts: WeightsKeeperParts): WeightsKeeper {
  const { index, store, configured = {}, onUnusable, audit, clock = () => new Date() } = parts;
  const tell = tellOnce(onUnusable, ({ message }) => message);
  let last: Promise<unknown> = Promise.resolve();

  /** One after the other: what was read before a change must not take its place after it. */
  function inTurn(work: () => Promise<void>): Promise<void> {
    const turn = last.then(work);
    last = turn.catch(() => undefined);
    return turn;
  }

  /** Another version may have kept them, for fields that only it knows: that must not keep this one from its work. */
  function read(content: unknown): z.input<typeof fieldWeightsSchema> {
    try {
      return parseOptions(keptWeightsSchema, content, PLACE);
    } catch (error) {
      if (!(error instanceof WinnowError)) throw error;
      tell(error);
      return configured;
    }
  }

  return {
    refresh: () =>
      inTurn(async () => {
        const kept = await store.get(OWNER, NAME);
        index.setWeights(kept ? read(kept.content) : configured);
      }),

    set: (weights, by) =>
      inTurn(async () => {
        if (weights) {
          await store.put({ owner: OWNER, name: NAME, content: weights, updatedAt: clock().toISOString() });
        } else await store.remove(OWNER, NAME);
        const reason = weights ? JSON.stringify(weights) : 'Those of the configuration again.';
        await audit({ event: 'index_weighed', outcome: 'allowed', user: by, reason });
        index.setWeights(weights ?? configured);
      }),
  };
}
