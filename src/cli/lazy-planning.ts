/** Planning whose model is opened by the first request that needs it: who starts a server must not wait for a model. */
import type { Catalog } from '../core/catalog/catalog.js';
import { createScope } from '../core/catalog/scope.js';
import { orAborted, throwIfCancelled } from '../core/errors.js';
import { createOpening } from '../core/kept.js';
import type { Planner, PlannerParts } from '../core/planner.js';
import type { PlanningSetup } from './set-up.js';

export interface LazyPlanning {
  plannerOf(catalog: Catalog, rules?: PlannerParts['rules']): Planner;
  /** Gives up on a model that is being opened. */
  close(): Promise<void>;
}

/** @param open asked once; again where it failed, with the next request */
export function createLazyPlanning(open: (signal: AbortSignal) => Promise<PlanningSetup>): LazyPlanning {
  const life = new AbortController();
  const opening = createOpening(() => open(life.signal));

  return {
    plannerOf(catalog, rules) {
      const viewOf = createScope(catalog);
      let kept: Planner | undefined;
      const planner = async (signal: AbortSignal | undefined): Promise<Planner> => {
        const setup = await unlessCancelled(opening.get(), signal);
        kept ??= setup.plannerOf(catalog, rules);
        return kept;
      };
      return {
        plan: async (request, call) => (await planner(call?.signal)).plan(request, call),
        select: async (request, call) => (await planner(call?.signal)).select(request, call),
        view: (request = {}) => viewOf(request),
      };
    },

    async close() {
      life.abort();
      const setup = await opening.peek()?.catch(() => undefined);
      await setup?.close();
    },
  };
}

/** A model may take minutes to load: who does not want it any more does not wait. */
async function unlessCancelled<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return work;
  throwIfCancelled(signal);
  return orAborted(work, signal).catch((error: unknown) => {
    throwIfCancelled(signal);
    throw error;
  });
}
