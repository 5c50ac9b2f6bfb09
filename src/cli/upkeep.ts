/** What a server does now and then beside its answers: each thing one at a time, none of it keeping the process alive. */
import { unwatchFile, watchFile } from 'node:fs';
import type { Logger } from '../agents/logging/logger.js';
import type { Router } from '../agents/router.js';

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

/** Between two looks at the file. */
const INTERVAL_MS = 250;

/**
 * Reads the policy anew when its file changes. By its date and not by events of the file system: editors replace files.
 * @returns a function that ends it
 */
export function watchPolicy(
  path: string,
  { router, logger }: { router: Pick<Router, 'reloadPolicy'>; logger: Pick<Logger, 'info' | 'warn' | 'error'> },
): () => void {
  let isBroken = false;
  const reload = async (): Promise<void> => {
    const outcome = await router.reloadPolicy();
    const { version } = outcome;
    const isMended = isBroken && outcome.ok;
    isBroken = !outcome.ok;
    if (!outcome.ok)
      logger.error({ policy: path, version, issues: outcome.issues }, `the policy stays: ${outcome.reason}`);
    else if (outcome.isChanged) logger.info({ policy: path, version }, 'the policy has changed');
    else if (isMended) logger.info({ policy: path, version }, 'the policy can be read again, and is what it was');
  };
  const listener = (): void => {
    reload().catch((error: unknown) => logger.warn({ err: error }, 'the change of the policy is not in the audit'));
  };
  watchFile(path, { interval: INTERVAL_MS, persistent: false }, listener);
  return () => unwatchFile(path, listener);
}
