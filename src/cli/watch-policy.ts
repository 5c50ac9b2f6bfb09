/** Reads the policy anew when its file changes. By its date and not by events of the file system: editors replace files. */
import { unwatchFile, watchFile } from 'node:fs';
import type { Logger } from '../agents/logging/logger.js';
import type { Router } from '../agents/router.js';

export interface WatchParts {
  router: Pick<Router, 'reloadPolicy'>;
  logger: Pick<Logger, 'info' | 'warn' | 'error'>;
}

/** Between two looks at the file. */
const INTERVAL_MS = 250;

/** @returns a function that ends it */
export function watchPolicy(path: string, { router, logger }: WatchParts): () => void {
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
