/** The catalogue of a server with all that hangs on its sources: what runs the tools, and the words of its trade. */

import { createLiveCatalog, type LiveCatalog } from '../agents/live-catalog.js';
import type { PolicySource } from '../agents/policy/policy-file.js';
import { loadSourceSynonyms, type Synonyms } from '../agents/search/source-synonyms.js';
import type { WriteAudit } from '../agents/write-audit.js';
import { loadCatalog } from '../core/catalog/load.js';
import { toWinnowError } from '../core/errors.js';
import { createLiveExecutors, type LiveExecutors, openExecutors } from './executors.js';
import type { AgentFlags } from './flags.js';
import { sourceOptions } from './load-tools.js';
import type { Setup } from './set-up.js';

export interface CatalogSetup extends Pick<Setup, 'loaded' | 'sources' | 'isStrict' | 'config' | 'logger'> {
  flags: AgentFlags;
  audit: WriteAudit;
  policy: PolicySource;
}

export interface OpenCatalog {
  readonly live: LiveCatalog;
  readonly executors: LiveExecutors;
  /** Those of now. */
  readonly synonyms: () => Synonyms;
  /** How many tools can be run. */
  readonly runnable: number;
}

/** @throws WinnowError `invalid_option`, `source_failed` */
export async function openCatalog(setup: CatalogSetup): Promise<OpenCatalog> {
  const { flags, config, sources, loaded, isStrict, logger, audit, policy } = setup;
  const open = () => openExecutors({ flags, config, sources, catalog: live.current().catalog, logger });
  const live = createLiveCatalog({
    first: loaded,
    load: (previous) =>
      loadCatalog({ ...sourceOptions(config), sources, strict: isStrict, previous, keepFailed: true, logger }),
    policy: policy.current,
    audit,
  });
  const readSynonyms = () =>
    loadSourceSynonyms({
      sources,
      file: config.synonyms,
      onFailure: (source, { message }) => logger.warn({ source }, message),
    });
  let synonyms = await readSynonyms();
  let { executors: first, runnable, fingerprint } = await open();
  const executors = createLiveExecutors(first);

  /** What can't be opened anew stays as it is, as the catalogue does. */
  async function follow(): Promise<void> {
    try {
      const next = await open();
      if (next.fingerprint === fingerprint) return;
      fingerprint = next.fingerprint;
      executors.replace(next.executors);
    } catch (error) {
      logger.error({ code: toWinnowError(error).code }, `tools run as before: ${toWinnowError(error).message}`);
    }
  }

  return {
    executors,
    runnable,
    synonyms: () => synonyms,
    live: {
      current: live.current,
      async reload() {
        const report = await live.reload();
        await follow();
        synonyms = await readSynonyms().catch(() => synonyms);
        const { kept, failed, warnings, ...counts } = report;
        for (const { source, reason } of kept) logger.error({ source }, `its tools stay as they were: ${reason}`);
        logger.info({ ...counts, failed: failed.length, warnings: warnings.length }, 'the catalogue was read anew');
        return report;
      },
    },
  };
}
