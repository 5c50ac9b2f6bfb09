/** Runs the missing cases through a dispatcher, keeps each record at once, and writes the summary. */
import { throwIfCancelled, WinnowError } from '../core/errors.js';
import type { CaseJob, CaseRunner } from './case-runner.js';
import type { CaseSource } from './case-source.js';
import { createTally } from './metrics.js';
import type { CaseRecord } from './record.js';
import { keyOf, type RunStore } from './run-store.js';
import type { RunStart, RunSummary } from './run-summary.js';

export interface DispatchOptions {
  /** Stores records. Once it resolves, they survive a power loss, and a queue may forget them. */
  keep: (records: readonly CaseRecord[]) => Promise<void>;
  /** Starts no new case; running ones finish. */
  stop: AbortSignal;
  /** Abandons running cases, too. */
  cancel: AbortSignal;
}

/** Runs cases until all jobs are done, or after `stop`. @throws what `keep` throws, and `cancelled` */
export type Dispatcher = (jobs: AsyncIterable<CaseJob>, options: DispatchOptions) => Promise<void>;

/** Runs cases in this process, `concurrency` at once. */
export function createLocalDispatcher(run: CaseRunner, concurrency: number): Dispatcher {
  return async (jobs, { keep, stop, cancel }) => {
    const failed = new AbortController();
    const giveUp = AbortSignal.any([cancel, failed.signal]);
    const queue = jobs[Symbol.asyncIterator]();
    const work = async (): Promise<void> => {
      while (!stop.aborted && !giveUp.aborted) {
        const next = await queue.next();
        if (next.done) return;
        // Each case has its own signal, so that its listeners are freed with it.
        await keep([await run(next.value, AbortSignal.any([giveUp]))]);
      }
    };
    const workers = Array.from({ length: concurrency }, () =>
      work().catch((error: unknown) => {
        failed.abort(error);
      }),
    );
    await Promise.all(workers);
    await queue.return?.();
    throwIfCancelled(cancel);
    if (failed.signal.aborted) throw failed.signal.reason;
  };
}

export interface EvaluationOptions {
  store: RunStore;
  source: CaseSource;
  /** Runs of each case. */
  repeats: number;
  dispatch: Dispatcher;
  start: RunStart;
  /** Called with every new record. */
  onRecord?: ((record: CaseRecord) => void) | undefined;
  /** Starts no new case. */
  stop?: AbortSignal | undefined;
  /** Abandons running cases, too. */
  cancel?: AbortSignal | undefined;
}

export interface EvaluationEnd {
  summary: RunSummary;
  /** The error that ended the run early; finished cases are kept. */
  failure: WinnowError | undefined;
}

/** Aborts with an error after `most` server errors in a row: the server is down. @param goOn what to do then */
export function createOutage(most: number, goOn: string) {
  const down = new AbortController();
  let errors = 0;
  return {
    signal: down.signal,
    see({ error }: CaseRecord): void {
      errors = error ? errors + 1 : 0;
      if (!error || errors < most) return;
      const last = `the last with ${error.code}: ${error.message}`;
      down.abort(new WinnowError('model_failed', `${errors} cases in a row failed, ${last} ${goOn}`));
    },
  };
}

const NEVER = new AbortController().signal;
const MAX_ERRORS_IN_A_ROW = 20;

export async function evaluate(options: EvaluationOptions): Promise<EvaluationEnd> {
  const { store, start, stop = NEVER, cancel = NEVER } = options;
  const outage = createOutage(MAX_ERRORS_IN_A_ROW, 'Go on with --resume.');
  let failure: WinnowError | undefined;
  // Saved first, so that even a killed run has its settings.
  await store.saveSummary(toSummary(start, { all: createTally().facts(), ofSuites: [] }));
  try {
    await options.dispatch(missingJobs(options, await store.doneKeys()), {
      async keep(records) {
        for (const record of await store.keep(records)) {
          options.onRecord?.(record);
          outage.see(record);
        }
      },
      stop: AbortSignal.any([stop, cancel, outage.signal]),
      cancel,
    });
    throwIfCancelled(cancel);
  } catch (error) {
    if (!(error instanceof WinnowError)) throw error;
    if (!cancel.aborted) failure = error;
  }
  const summary = await summarise(store, start);
  return { summary, failure: failure ?? outage.signal.reason };
}

/** First tries of all cases come before second ones, so that an interrupted run covers more cases. */
async function* missingJobs(
  { source, repeats }: EvaluationOptions,
  done: ReadonlySet<string>,
): AsyncGenerator<CaseJob> {
  for (let repeat = 0; repeat < repeats; repeat++) {
    for await (const one of source.cases()) {
      if (!done.has(keyOf(one.id, repeat))) yield { case: one, repeat };
    }
  }
}

/** Computes the summary from the stored records, and stores it. */
export async function summarise(store: RunStore, start: RunStart, now = new Date()): Promise<RunSummary> {
  const all = createTally();
  const bySuite = start.suites.map(({ name }) => ({ name, tally: start.suites.length === 1 ? all : createTally() }));
  for await (const record of store.records()) {
    all.add(record);
    const own = bySuite.find(({ name }) => name === record.suite)?.tally;
    if (own !== all) own?.add(record);
  }
  const facts = all.facts();
  const ofSuites = bySuite.map(({ tally }) => (tally === all ? facts : tally.facts()));
  const summary = toSummary(start, { all: facts, ofSuites, endedAt: now });
  await store.saveSummary(summary);
  return summary;
}

type Facts = ReturnType<ReturnType<typeof createTally>['facts']>;

function toSummary(
  start: RunStart,
  { all, ofSuites, endedAt }: { all: Facts; ofSuites: readonly Facts[]; endedAt?: Date },
): RunSummary {
  const isWhole = all.counts.done >= start.planned;
  const suites = start.suites.map(({ name, catalog, tools, caseHash }, place) => {
    const { counts, metrics } = ofSuites[place] ?? all;
    return { name, catalog, tools, caseHash, counts, metrics };
  });
  const ended = isWhole && endedAt ? { endedAt: endedAt.toISOString() } : {};
  return { ...start, format: 1, ...ended, interrupted: !isWhole, ...all, suites };
}
