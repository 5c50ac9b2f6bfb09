/** Progress of a download for people. */
import { formatBytes } from '../core/model/store/format-bytes.js';
import type { PullProgress } from '../core/model/store/progress.js';
import { type Bar, createBar, type ProgressStream } from './bar.js';

export interface ProgressBar extends Pick<Bar, 'note' | 'stop'> {
  update(progress: PullProgress): void;
}

export function createProgressBar(label: string, stream: ProgressStream = process.stderr): ProgressBar {
  const { update, note, stop } = createBar({
    label,
    render: ({ value, total }) => `${Math.floor((100 * value) / total)}%`,
    stream,
  });
  return {
    update: (progress) => update({ value: progress.bytes, total: progress.total }, () => renderProgress(progress)),
    note,
    stop,
  };
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
