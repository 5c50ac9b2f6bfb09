/** Progress of a download for people: a bar where there is a terminal, else a line every tenth. */
import { SingleBar } from 'cli-progress';
import { formatBytes } from '../model/store/format-bytes.js';
import type { PullProgress } from '../model/store/progress.js';

export interface ProgressBar {
  update(progress: PullProgress): void;
  /** A line above the bar. */
  note(text: string): void;
  /** Leaves the last state standing. Idempotent. */
  stop(): void;
}

/** A stream that may be a terminal, for example `process.stderr`. */
export type ProgressStream = NodeJS.WritableStream & { isTTY?: boolean };

export function createProgressBar(label: string, stream: ProgressStream = process.stderr): ProgressBar {
  return stream.isTTY ? createTerminalBar(label, stream) : createLines(label, stream);
}

/** Size, speed and time left, for example `120.0 MB of 1.12 GB, 10.0 MB/s, 1 min 40 s left, hub`. */
export function renderProgress({ source, bytes, total, bytesPerSecond, secondsLeft }: PullProgress): string {
  const speed = bytesPerSecond > 0 ? [`${formatBytes(bytesPerSecond)}/s`] : [];
  const left = secondsLeft === undefined || bytes >= total ? [] : [`${renderDuration(secondsLeft)} left`];
  return [`${formatBytes(bytes)} of ${formatBytes(total)}`, ...speed, ...left, source].join(', ');
}

export function renderDuration(seconds: number): string {
  const whole = Math.ceil(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}

function createTerminalBar(label: string, stream: NodeJS.WritableStream): ProgressBar {
  const format = `${label} [{bar}] {percentage}%  {text}`;
  let bar: SingleBar | undefined;
  const stop = () => {
    bar?.stop();
    bar = undefined;
  };
  return {
    update(progress) {
      const text = renderProgress(progress);
      if (!bar) {
        bar = new SingleBar({ format, stream, barsize: 24, hideCursor: true, fps: 5 });
        bar.start(progress.total, progress.bytes, { text });
      }
      bar.update(progress.bytes, { text });
    },
    note(text) {
      stop();
      stream.write(`${text}\n`);
    },
    stop,
  };
}

function createLines(label: string, stream: NodeJS.WritableStream): ProgressBar {
  let told = -1;
  return {
    update(progress) {
      const tenth = Math.floor((progress.bytes / progress.total) * 10);
      if (tenth === told) return;
      told = tenth;
      stream.write(`${label} ${tenth * 10}%  ${renderProgress(progress)}\n`);
    },
    note: (text) => {
      stream.write(`${text}\n`);
    },
    stop: () => undefined,
  };
}
