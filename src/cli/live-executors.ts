/** Executors of a running server, replaced with its catalogue while calls go on. */
import type { Executor } from '../agents/sandbox/executors/executor.js';
import type { McpOffers } from '../agents/sandbox/executors/offers.js';
import { fail } from '../agents/sandbox/failure.js';
import type { Tool } from '../core/catalog/tool.js';

/** A running call finishes on the executor that started it. */
export interface LiveExecutors extends Executor {
  close(): Promise<void>;
  /** New calls go to these; the old ones close after their last call. */
  replace(next: readonly Executor[]): void;
}

interface Generation {
  readonly executors: readonly Executor[];
  running: number;
  isOld: boolean;
}

export function createLiveExecutors(first: readonly Executor[]): LiveExecutors {
  let current: Generation = { executors: first, running: 0, isOld: false };
  const closing = new Set<Promise<unknown>>();

  function retire(generation: Generation): void {
    generation.isOld = true;
    if (generation.running === 0) closeAll(generation);
  }

  function closeAll({ executors }: Generation): void {
    const work = Promise.allSettled(executors.map((one) => one.close?.()));
    closing.add(work);
    void work.then(() => closing.delete(work));
  }

  async function counted<Result>(generation: Generation, work: () => Promise<Result>): Promise<Result> {
    generation.running += 1;
    try {
      return await work();
    } finally {
      generation.running -= 1;
      if (generation.isOld && generation.running === 0) closeAll(generation);
    }
  }

  const find = (tool: Tool) => current.executors.find((one) => one.canRun(tool));
  return {
    canRun: (tool) => find(tool) !== undefined,
    defaultTimeoutMs: (tool) => find(tool)?.defaultTimeoutMs?.(tool),
    whyDown: (tool) => find(tool)?.whyDown?.(tool),
    health: () => new Map(current.executors.flatMap((one) => [...(one.health?.() ?? [])])),
    get offers() {
      const generation = current;
      const offers = generation.executors.find((one) => one.offers)?.offers;
      return (
        offers && {
          servers: offers.servers,
          ask: (...asked: Parameters<McpOffers['ask']>) => counted(generation, () => offers.ask(...asked)),
        }
      );
    },

    async run(call) {
      const generation = current;
      const executor = find(call.tool);
      // It may have been replaced since `canRun`.
      if (!executor) return fail('not_runnable', `No executor can run ${call.tool.name}.`);
      return counted(generation, () => executor.run(call));
    },

    replace(next) {
      const old = current;
      current = { executors: next, running: 0, isOld: false };
      retire(old);
    },

    async close() {
      // Closes even under running calls, which shutdown no longer waits for.
      if (!current.isOld) closeAll(current);
      current.isOld = true;
      await Promise.all(closing);
    },
  };
}
