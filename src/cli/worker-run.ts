/** A worker set up: its model, prompts and catalogues once, and planners for each run by what the run says. */
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Catalog } from '../catalog/catalog.js';
import { loadCatalog } from '../catalog/load.js';
import { type ConfigFile, loadConfigFile } from '../config/config-file.js';
import { readEnvironment } from '../config/environment.js';
import { throwIfCancelled, WinnowError } from '../errors.js';
import { ANSWERS_FOLDER, createAnswerCache } from '../evaluation/answer-cache.js';
import { createCaseRunner } from '../evaluation/case-runner.js';
import { type QueueWorkerOptions, serveQueue } from '../evaluation/queue/queue-worker.js';
import type { QueuedRun } from '../evaluation/queue/queued-run.js';
import { createSuitePlanners, promptHashesOf } from '../evaluation/suite.js';
import { createCallLog, withCallLog } from '../logging/call-log.js';
import { createLogger } from '../logging/logger.js';
import type { Model } from '../model/model.js';
import { cacheFolder } from '../model/store/cache-folder.js';
import { loadSuites } from './eval-suites.js';
import { catchInterrupts } from './interrupts.js';
import { logLevelOf, modelSettings, openModel, type SharedFlags, texts } from './shared-options.js';

export interface WorkerFlags extends SharedFlags {
  queue: string;
  suite?: string[];
  jobs: number;
}

/** Returns when it was told to stop and its cases are done. @throws WinnowError, `cancelled` when told twice */
export async function runWorker(flags: WorkerFlags, version: string): Promise<void> {
  const signals = catchInterrupts();
  const onNotice = (text: string) => process.stderr.write(`${text}\n`);
  try {
    const path = flags.config ?? readEnvironment().config;
    const config = path === undefined ? {} : await loadConfigFile(path);
    const prompts = { ...config.prompts, ...texts(flags.prompt) };
    const hashes = promptHashesOf(prompts);
    const catalogs = await loadCatalogs(flags, config, signals.stop);
    const model = await openModel(modelSettings(flags, config), { stderr: process.stderr, signal: signals.stop });
    const answering = openAnswering(model, flags, config);
    const identity = { version, model: model.id, prompts: hashes, catalogs: new Set(catalogs.keys()) };
    const createRunner: QueueWorkerOptions['createRunner'] = (run, onStablePart) => {
      const parts = { ...answering.forRun(run), options: run.options, prompts, onStablePart };
      const planners = suitesOf(run, catalogs).map(([name, catalog]) => {
        return [name, createSuitePlanners({ catalog }, parts)] as const;
      });
      const { only, ...judging } = run.judging;
      return createCaseRunner({ ...judging, only, suites: new Map(planners) });
    };
    try {
      const name = `${hostname()}:${process.pid}`;
      const { queue: url, jobs: concurrency } = flags;
      await serveQueue({ url, name, identity, createRunner, concurrency, ...signals, onNotice });
      throwIfCancelled(signals.cancel);
    } finally {
      await answering.close();
    }
  } finally {
    signals.release();
  }
}

/** By fingerprint: what a set is called elsewhere does not matter. */
async function loadCatalogs(
  flags: WorkerFlags,
  config: ConfigFile,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Catalog>> {
  const { suite = [], catalog = suite.length > 0 ? undefined : config.catalog } = flags;
  const strict = flags.strict ?? config.strict ?? false;
  const logger = createLogger({ level: logLevelOf(readEnvironment().logLevel ?? config.logLevel) });
  const context = { logger, signal, stderr: process.stderr };
  const found = suite.length > 0 ? (await loadSuites({ suite, strict }, context)).map((one) => one.catalog) : [];
  if (catalog) {
    const loaded = await loadCatalog({ sources: catalog, strict, logger, signal });
    for (const { error } of loaded.failures) process.stderr.write(`${error.message}\n`);
    found.push(loaded.catalog);
  }
  if (found.length === 0) {
    throw new WinnowError(
      'invalid_option',
      'There are no tools: give --suite SET or --catalog SOURCE, as to winnow eval.',
    );
  }
  return new Map(found.map((one) => [one.fingerprint, one]));
}

function suitesOf(run: QueuedRun, catalogs: ReadonlyMap<string, Catalog>): [string, Catalog][] {
  return Object.entries(run.catalogs).map(([name, fingerprint]) => {
    const catalog = catalogs.get(fingerprint);
    if (!catalog) throw new WinnowError('internal', `The run ${run.name} was taken without the catalogue of ${name}.`);
    return [name, catalog];
  });
}

/** One cache for all runs: the file allows one writer a process. */
function openAnswering(model: Model, flags: WorkerFlags, config: ConfigFile) {
  const callLog = createCallLog({ destination: flags.callLog ?? config.callLog ?? 'off' });
  const logged = withCallLog(model, callLog);
  const cache = createAnswerCache(logged, { folder: join(cacheFolder(), ANSWERS_FOLDER) });
  return {
    forRun: (run: QueuedRun) => ({ model: logged, cache: run.cache ? cache : undefined }),
    close: async () => {
      cache.close();
      callLog.close();
      await model.close();
    },
  };
}
