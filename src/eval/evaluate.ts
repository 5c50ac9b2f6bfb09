/** A run from its first case to its summary: what is missing is done, whoever does it, and each record is kept at once. */
import { throwIfCancelled, WinnowError } from '../core/errors.js';
import type { CaseJob } from './case-runner.js';
import type { CaseSource } from './case-source.js';
import type { Dispatcher } from './dispatcher.js';
import type { CaseRecord } from './record.js';
import { type RunFolder, readRecords } from './run-folder.js';
import type { RunStart, RunSummary } from './run-summary.js';
import { createTally } from './tally.js';

export interface EvaluationOptions {
  folder: RunFolder;
  source: CaseSource;
  /** How often each case is done. */
  repeats: number;
  dispatch: Dispatcher;
  start: RunStart;
  /** Told of every new record. */
  onRecord?: ((record: CaseRecord) => void) | undefined;
  /** No new case is begun. */
  stop?: AbortSignal | undefined;
  /** Cases under way are given up, too. */
  cancel?: AbortSignal | undefined;
  /** So many errors of the server in a row end the run: it is down. Default: 20. */
  maxErrorsInARow?: number | undefined;
}

export interface EvaluationEnd {
  summary: RunSummary;
  /** Why the run ended early, where an error was the reason; what is done is kept. */
  failure: WinnowError | undefined;
}

const NEVER = new AbortController().signal;

export async function evaluate(options: EvaluationOptions): Promise<EvaluationEnd> {
  const { folder, source, repeats, start, stop = NEVER, cancel = NEVER } = options;
  const server = watchServer(options.maxErrorsInARow ?? 20);
  folder.writeSummary(emptySummary(start));
  let failure: WinnowError | undefined;
  try {
    await options.dispatch(missingJobs(source, repeats, folder), {
      onRecord(record) {
        // A queue may tell a result again when its command was killed between keeping and removing it.
        if (folder.isDone(record.id, record.repeat)) return;
        folder.append(record);
        options.onRecord?.(record);
        server.see(record);
      },
      synced: folder.synced,
      stop: AbortSignal.any([stop, cancel, server.isDown]),
      cancel,
    });
    throwIfCancelled(cancel);
    failure = server.failure();
  } catch (error) {
    if (!(error instanceof WinnowError)) throw error;
    if (!cancel.aborted) failure = error;
  }
  const summary = await summarise(folder.path, start);
  folder.writeSummary(summary);
  return { summary, failure };
}

/** All first tries before the second ones: an interrupted run has seen every case once, as far as it came. */
async function* missingJobs(source: CaseSource, repeats: number, folder: RunFolder): AsyncGenerator<CaseJob> {
  for (let repeat = 0; repeat < repeats; repeat++) {
    for await (const one of source.cases()) {
      if (!folder.isDone(one.id, repeat)) yield { case: one, repeat };
    }
  }
}

function watchServer(maxErrors: number) {
  const down = new AbortController();
  let inARow = 0;
  let last: CaseRecord['error'];
  return {
    isDown: down.signal,
    see({ outcome, error }: CaseRecord) {
      inARow = outcome === 'error' ? inARow + 1 : 0;
      last = error ?? last;
      if (inARow >= maxErrors) down.abort();
    },
    failure() {
      if (!down.signal.aborted) return undefined;
      const message = `${maxErrors} cases in a row failed, the last with ${last?.code}: ${last?.message} Continue with --resume --retry-errors.`;
      return new WinnowError('model_failed', message);
    },
  };
}

function emptySummary(start: RunStart): RunSummary {
  const counts = { done: 0, answered: 0, errors: 0, right: 0, wrong: 0 };
  const suites = start.suites.map((suite) => ({ ...suite, counts, metrics: [] }));
  return { format: 1, ...start, interrupted: true, counts, causes: {}, metrics: [], suites };
}

/** Reads what is on the disk: the metrics are of that and nothing else. */
export async function summarise(path: string, start: RunStart, now = new Date()): Promise<RunSummary> {
  const all = createTally();
  const bySuite = new Map(start.suites.map(({ name }) => [name, createTally()]));
  const isAlone = start.suites.length === 1;
  for await (const record of readRecords(path)) {
    all.add(record);
    if (!isAlone) bySuite.get(record.suite ?? '')?.add(record);
  }
  const counts = all.counts();
  const interrupted = counts.done < start.planned;
  const metrics = all.metrics();
  const commonestError = all.commonestError();
  const totalCost = all.totalCost();
  return {
    format: 1,
    ...start,
    ...(interrupted ? {} : { endedAt: now.toISOString() }),
    interrupted,
    counts,
    ...(commonestError ? { commonestError } : {}),
    causes: all.causes(),
    ...(totalCost === undefined ? {} : { totalCost }),
    metrics,
    suites: start.suites.map((suite) => {
      const tally = bySuite.get(suite.name);
      if (isAlone || !tally) return { ...suite, counts, metrics };
      return { ...suite, counts: tally.counts(), metrics: tally.metrics() };
    }),
  };
}
