/** Progress of an evaluation: rate, time left, and results so far. */
import type { CaseRecord } from '../eval/record.js';
import { type Bar, type BarPlace, createBar, type ProgressStream, renderDuration } from './progress.js';

export interface EvaluationProgress extends Pick<Bar, 'note' | 'stop'> {
  /** Adds a case of an earlier process, which counts in all but the rate. Call it before the first `see`. */
  remember(record: CaseRecord): void;
  see(record: CaseRecord): void;
}

export interface EvaluationProgressOptions {
  /** Cases times repeats. */
  total: number;
  currency?: string | undefined;
  stream: ProgressStream;
  /** Milliseconds of a clock that never goes back. Default: `performance.now`. */
  now?: () => number;
}

/** Longest time between two lines while cases end. */
const SILENCE_MS = 60_000;

export function createEvaluationProgress(options: EvaluationProgressOptions): EvaluationProgress {
  const { total, stream, now } = options;
  const state = createState(options);
  const render = ({ value }: BarPlace) => `${value}/${total}`;
  const bar = createBar({ label: 'eval', render, stream, longestSilenceInMs: SILENCE_MS, now });
  const place = () => ({ value: state.done(), total });
  bar.begin(place());
  return {
    remember(record) {
      state.remember(record);
      bar.begin(place());
    },
    see(record) {
      state.see(record);
      bar.update(place(), state.text);
    },
    note: bar.note,
    stop: bar.stop,
  };
}

/** Running sums for the means of all cases and for the rate of this process. */
function createState({ total, currency, now = () => performance.now() }: EvaluationProgressOptions) {
  let startedAt = now();
  const means = { right: { sum: 0, count: 0 }, recall: { sum: 0, count: 0 } };
  let done = 0;
  let seen = 0;
  let errors = 0;
  let cost = 0;
  const count = (record: CaseRecord): void => {
    done += 1;
    errors += Number(record.outcome === 'error');
    cost += record.cost ?? 0;
    for (const name of ['right', 'recall'] as const) {
      const value = record.scores[name];
      if (typeof value !== 'number') continue;
      means[name].sum += value;
      means[name].count += 1;
    }
  };
  return {
    done: () => done,
    /** Restarts the clock, so that the rate counts only new cases. */
    remember(record: CaseRecord) {
      count(record);
      startedAt = now();
    },
    see(record: CaseRecord) {
      seen += 1;
      count(record);
    },
    text() {
      const seconds = (now() - startedAt) / 1_000;
      const left = seen > 0 ? ((total - done) * seconds) / seen : 0;
      const mean = (name: 'right' | 'recall') => {
        const { sum, count } = means[name];
        return count > 0 ? [`${name} ${(sum / count).toFixed(3)}`] : [];
      };
      return [
        ...(seconds > 0 ? [`${((seen / seconds) * 60).toFixed(1)} cases/min`] : []),
        ...(left > 0 ? [`${renderDuration(left)} left`] : []),
        ...mean('recall'),
        ...mean('right'),
        ...(errors > 0 ? [`${errors} errors`] : []),
        ...(currency === undefined ? [] : [`${cost.toFixed(4)} ${currency}`]),
      ].join(', ');
    },
  };
}
