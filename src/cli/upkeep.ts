/** What a server does now and then beside its answers: each thing one at a time, none of it keeping the process alive. */
import type { Logger } from '../agents/logging/logger.js';

export interface Chore {
  /** For the log, for example `learning from use`. */
  readonly name: string;
  readonly everyMs: number;
  /** Also at once, without anybody waiting for it. Default: first after `everyMs`. */
  readonly atOnce?: boolean;
  work(): Promise<unknown>;
}

/** @returns a function that ends it, and resolves when what is under way has ended. */
export function startUpkeep(chores: readonly Chore[], logger: Pick<Logger, 'warn'>): () => Promise<void> {
  const runs = chores.map(({ everyMs, atOnce = false, ...chore }) => {
    const run = oneAtATime(chore, logger);
    if (atOnce) run.begin();
    return { ...run, timer: setInterval(run.begin, everyMs).unref() };
  });
  return async () => {
    for (const { timer } of runs) clearInterval(timer);
    await Promise.all(runs.map(({ ended }) => ended()));
  };
}

/** A slow store must not be asked twice at once. */
function oneAtATime({ name, work }: Pick<Chore, 'name' | 'work'>, logger: Pick<Logger, 'warn'>) {
  let running: Promise<void> | undefined;
  return {
    begin(): void {
      running ??= work()
        .then(
          () => undefined,
          (error: unknown) => logger.warn({ err: error }, `${name} failed, and is tried again later`),
        )
        .finally(() => {
          running = undefined;
        });
    },
    ended: async (): Promise<void> => running,
  };
}
