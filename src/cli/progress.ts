/** Progress on stderr: one line that is written again on a terminal, else a line at every tenth and after a long silence. */

import { formatBytes, type PullProgress } from '../core/model/store/model-file.js';
import type { CaseRecord } from '../eval/record.js';
import { printableLine, writeLine } from './output.js';

/** A stream that may be a terminal, for example `process.stderr`. */
export type ProgressStream = NodeJS.WritableStream & { isTTY?: boolean; columns?: number };

export interface ProgressLine {
  /** @param share from 0 to 1. `text` is called only when it is written */
  update(share: number, text: () => string): void;
  /** A line above. */
  note(text: string): void;
  /** Leaves the last state standing. Idempotent. */
  stop(): void;
}

const REFRESH_MS = 200;
/** Longest time between two lines while updates come. */
const SILENCE_MS = 60_000;

/** @param now milliseconds of a clock that never goes back */
export function createProgressLine(stream: ProgressStream, now: () => number): ProgressLine {
  const line = createTerminalLine(stream);
  let tenth = 0;
  let shownAt = now();
  let last: (() => string) | undefined;
  return {
    update(share, text) {
      last = text;
      const isDue = stream.isTTY ? now() - shownAt >= REFRESH_MS : now() - shownAt >= SILENCE_MS;
      if (!isDue && Math.floor(share * 10) === tenth) return;
      tenth = Math.floor(share * 10);
      shownAt = now();
      if (stream.isTTY) line.show(text());
      else writeLine(text(), stream);
    },
    note(text) {
      line.clear();
      writeLine(text, stream);
    },
    stop() {
      if (stream.isTTY && last) stream.write(`${CLEAR}${printableLine(last())}\n`);
      last = undefined;
    },
  };
}

const CLEAR = '\r\u001b[K';

/** A line that the next text takes the place of. It shows nothing where there is no terminal. */
export function createTerminalLine(stream: ProgressStream) {
  const { columns = 80 } = stream;
  let isShown = false;
  return {
    show(text: string): void {
      if (!stream.isTTY) return;
      isShown = true;
      stream.write(`${CLEAR}${printableLine(text).slice(0, columns - 1)}`);
    },
    /** May be called again. */
    clear(): void {
      if (isShown) stream.write(CLEAR);
      isShown = false;
    },
  };
}

/** Of a download. */
export function createDownloadLine(
  label: string,
  stream: ProgressStream = process.stderr,
  now: () => number = () => performance.now(),
) {
  const { update, note, stop } = createProgressLine(stream, now);
  let start: (PullProgress & { at: number }) | undefined;
  return {
    update(progress: PullProgress) {
      const { source, bytes, total } = progress;
      // Each source has its own speed, and bytes already on the disk do not count.
      if (source !== start?.source || bytes < start.bytes) start = { ...progress, at: now() };
      const [loaded, seconds] = [bytes - start.bytes, (now() - start.at) / 1_000];
      const isKnown = loaded > 0 && seconds > 0;
      update(bytes / total, () =>
        [
          `${label} ${Math.floor((100 * bytes) / total)}%  ${formatBytes(bytes)} of ${formatBytes(total)}`,
          ...(isKnown ? [`${formatBytes(loaded / seconds)}/s`] : []),
          ...(isKnown && bytes < total ? [`${renderDuration(((total - bytes) * seconds) / loaded)} left`] : []),
          source,
        ].join(', '),
      );
    },
    note,
    stop,
  };
}

export function renderDuration(seconds: number): string {
  const whole = Math.ceil(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}

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
