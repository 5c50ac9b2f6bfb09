/** Progress of an evaluation: rate, time left, and results so far. */
import type { CaseRecord } from '../eval/record.js';
import { createProgressLine, type ProgressStream, renderDuration } from './progress.js';

interface EvaluationProgressOptions {
  /** Cases times repeats. */
  total: number;
  stream: ProgressStream;
  /** Milliseconds of a clock that never goes back. Default: `performance.now`. */
  now?: () => number;
}

export function createEvaluationProgress(options: EvaluationProgressOptions) {
  const { total, stream, now = () => performance.now() } = options;
  const { update, note, stop } = createProgressLine(stream, now);
  let startedAt = now();
  let [done, seen, judged, right, errors] = [0, 0, 0, 0, 0];
  const count = ({ outcome, scores }: CaseRecord): void => {
    done += 1;
    errors += Number(outcome === 'error');
    judged += Number(typeof scores.right === 'number');
    right += scores.right ?? 0;
  };
  const text = () => {
    const minutes = (now() - startedAt) / 60_000;
    return [
      `eval ${done}/${total}  ${(seen / minutes).toFixed(1)} cases/min`,
      ...(done < total ? [`${renderDuration(((total - done) * minutes * 60) / seen)} left`] : []),
      ...(judged > 0 ? [`right ${(right / judged).toFixed(3)}`] : []),
      ...(errors > 0 ? [`${errors} errors`] : []),
    ].join(', ');
  };
  return {
    /** Adds a case of an earlier process, which counts in all but the rate. Call it before the first `see`. */
    remember(record: CaseRecord) {
      count(record);
      startedAt = now();
    },
    see(record: CaseRecord) {
      seen += 1;
      count(record);
      update(done / total, text);
    },
    note,
    stop,
  };
}
