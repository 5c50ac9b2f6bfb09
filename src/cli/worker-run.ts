/** Sets up a worker: model, prompts and catalogues once, and planners for each run by its options. */
import { hostname } from 'node:os';
import { createLogger } from '../agents/logging/logger.js';
import type { Catalog } from '../core/catalog/catalog.js';
import { readVersion } from '../core/environment.js';
import { throwIfCancelled, WinnowError } from '../core/errors.js';
import { createCaseRunner } from '../eval/case-runner.js';
import { type QueueWorkerOptions, serveQueue } from '../eval/queue/queue-worker.js';
import type { QueuedRun } from '../eval/queue/queued-run.js';
import { createSuitePlanners, promptHashesOf } from '../eval/suite.js';
import type { ConfigFile } from './config-file.js';
import { loadSuites } from './eval-suites.js';
import { openAnsweringModels } from './evaluators.js';
import type { ConfigFlags } from './flags.js';
import { catchInterrupts, type Interrupts } from './interrupts.js';
import { loadTools } from './load-tools.js';
import { storeNameOf } from './model-settings.js';
import { writeLine } from './output.js';
import { logLevelOf, readConfig } from './read-config.js';
import { withTracing } from './tracing.js';

export interface WorkerFlags extends ConfigFlags {
  queue: string;
  suite?: string[];
  jobs: number;
}

/** Returns after a signal, when its cases are done. @throws WinnowError, `cancelled` after a second signal */
export async function runWorker(flags: WorkerFlags): Promise<void> {
  const signals = catchInterrupts();
  try {
    const config = await readConfig(flags);
    const logger = createLogger({ level: logLevelOf(config) });
    await withTracing({ config, logger }, () => doCases(flags, config, signals));
  } finally {
    signals.release();
  }
}

async function doCases(flags: WorkerFlags, config: ConfigFile, { stop, cancel }: Interrupts): Promise<void> {
  const { prompts = {} } = config;
  const hashes = promptHashesOf(prompts);
  const catalogs = await loadCatalogs(flags, config, stop);
  // Opened once for all runs, since each process opens a cache file once.
  const models = await openAnsweringModels(config, { stderr: process.stderr, signal: stop, cache: true });
  const { id, answering, close } = models;
  const called = { model: id, modelName: storeNameOf(id) };
  const identity = { version: readVersion(), ...called, prompts: hashes, catalogs: new Set(catalogs.keys()) };
  const createRunner: QueueWorkerOptions['createRunner'] = (run, onStablePart) => {
    const parts = { ...answering(run.cache), options: run.options, prompts, onStablePart };
    const planners = suitesOf(run, catalogs).map(([name, catalog]) => {
      return [name, createSuitePlanners({ catalog }, parts)] as const;
    });
    const { only, ...judging } = run.judging;
    return createCaseRunner({ ...judging, only, suites: new Map(planners) });
  };
  try {
    const name = `${hostname()}:${process.pid}`;
    const { queue: url, jobs: concurrency } = flags;
    await serveQueue({ url, name, identity, createRunner, concurrency, stop, cancel, onNotice: writeLine });
    throwIfCancelled(cancel);
  } finally {
    await close();
  }
}

/** Catalogues by fingerprint, whatever names their sets have elsewhere. */
async function loadCatalogs(
  flags: WorkerFlags,
  config: ConfigFile,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Catalog>> {
  const { suite = [] } = flags;
  const logger = createLogger({ level: logLevelOf(config) });
  const context = { config, logger, signal };
  const found = suite.length > 0 ? (await loadSuites(suite, context)).map((one) => one.catalog) : [];
  if (config.catalog && (suite.length === 0 || flags.catalog))
    found.push((await loadTools(config, context)).loaded.catalog);
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
