/** Progress of an evaluation for people: a bar where there is a terminal, else a line every tenth. */
import { SingleBar } from 'cli-progress';
import type { CaseRecord } from '../evaluation/record.js';
import { type ProgressStream, renderDuration } from './progress-bar.js';

export interface EvaluationProgress {
  see(record: CaseRecord): void;
  /** A line above the bar. */
  note(text: string): void;
  /** Leaves the last state standing. Idempotent. */
  stop(): void;
}

export interface EvaluationProgressOptions {
  /** Cases times repeats. */
  total: number;
  /** Of these, done by an earlier process. */
  done: number;
  currency?: string | undefined;
  stream: ProgressStream;
  /** Milliseconds of a clock that never goes back. Default: `performance.now`. */
  now?: () => number;
}

export function createEvaluationProgress(options: EvaluationProgressOptions): EvaluationProgress {
  const state = createState(options);
  const { stream, total, done } = options;
  if (!stream.isTTY) return createLines(state, options);
  const format = 'eval [{bar}] {value}/{total}  {text}';
  let bar: SingleBar | undefined;
  const stop = () => {
    bar?.stop();
    bar = undefined;
  };
  return {
    see(record) {
      state.see(record);
      if (!bar) {
        bar = new SingleBar({ format, stream, barsize: 24, hideCursor: true, fps: 5 });
        bar.start(total, done, { text: '' });
      }
      bar.update(state.done(), { text: state.text() });
    },
    note(text) {
      stop();
      stream.write(`${text}\n`);
    },
    stop,
  };
}

function createLines(state: State, { stream, total }: EvaluationProgressOptions): EvaluationProgress {
  let told = Math.floor((state.done() / total) * 10);
  return {
    see(record) {
      state.see(record);
      const tenth = Math.floor((state.done() / total) * 10);
      if (tenth === told) return;
      told = tenth;
      stream.write(`eval ${state.done()}/${total}  ${state.text()}\n`);
    },
    note: (text) => {
      stream.write(`${text}\n`);
    },
    stop: () => undefined,
  };
}

type State = ReturnType<typeof createState>;

/** Means of what this process has seen: sums, and no records. */
function createState({ total, done, currency, now = () => performance.now() }: EvaluationProgressOptions) {
  const startedAt = now();
  const means = { right: { sum: 0, count: 0 }, recall: { sum: 0, count: 0 } };
  let seen = 0;
  let errors = 0;
  let cost = 0;
  return {
    done: () => done + seen,
    see(record: CaseRecord) {
      seen += 1;
      errors += Number(record.outcome === 'error');
      cost += record.cost ?? 0;
      for (const name of ['right', 'recall'] as const) {
        const value = record.scores[name];
        if (typeof value !== 'number') continue;
        means[name].sum += value;
        means[name].count += 1;
      }
    },
    text() {
      const seconds = (now() - startedAt) / 1_000;
      const left = seen > 0 ? ((total - done - seen) * seconds) / seen : 0;
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
