/** Progress of an evaluation for people: a bar where there is a terminal, else a line every tenth, and every minute. */
import { SingleBar } from 'cli-progress';
import type { CaseRecord } from '../evaluation/record.js';
import { type ProgressStream, renderDuration } from './progress-bar.js';

export interface EvaluationProgress {
  /** A case that an earlier process did: it counts in all but the rate. Before the first `see`. */
  remember(record: CaseRecord): void;
  see(record: CaseRecord): void;
  /** A line above the bar. */
  note(text: string): void;
  /** Leaves the last state standing. Idempotent. */
  stop(): void;
}

export interface EvaluationProgressOptions {
  /** Cases times repeats. */
  total: number;
  currency?: string | undefined;
  stream: ProgressStream;
  /** Milliseconds of a clock that never goes back. Default: `performance.now`. */
  now?: () => number;
}

export function createEvaluationProgress(options: EvaluationProgressOptions): EvaluationProgress {
  const state = createState(options);
  const { stream, total } = options;
  if (!stream.isTTY) return createLines(state, options);
  const format = 'eval [{bar}] {value}/{total}  {text}';
  let bar: SingleBar | undefined;
  const stop = () => {
    bar?.stop();
    bar = undefined;
  };
  return {
    remember: state.remember,
    see(record) {
      state.see(record);
      if (!bar) {
        bar = new SingleBar({ format, stream, barsize: 24, hideCursor: true, fps: 5 });
        bar.start(total, state.done(), { text: '' });
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

/** Longest silence between two lines, as long as cases end. */
const SILENCE_MS = 60_000;

function createLines(
  state: State,
  { stream, total, now = () => performance.now() }: EvaluationProgressOptions,
): EvaluationProgress {
  const tenthOf = () => Math.floor((state.done() / total) * 10);
  let told = 0;
  let toldAt = now();
  return {
    remember(record) {
      state.remember(record);
      told = tenthOf();
      toldAt = now();
    },
    see(record) {
      state.see(record);
      const tenth = tenthOf();
      if (tenth === told && now() - toldAt < SILENCE_MS) return;
      told = tenth;
      toldAt = now();
      stream.write(`eval ${state.done()}/${total}  ${state.text()}\n`);
    },
    note: (text) => {
      stream.write(`${text}\n`);
    },
    stop: () => undefined,
  };
}

type State = ReturnType<typeof createState>;

/** Means of all that is done, and the rate of this process: sums, and no records. */
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
    /** The clock starts when the last of them is read. */
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
