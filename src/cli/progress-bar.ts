/** Progress of a download for people. */
import { formatBytes, type PullProgress } from '../core/model/store/model-file.js';
import { type Bar, createBar, type ProgressStream } from './bar.js';

export interface ProgressBar extends Pick<Bar, 'note' | 'stop'> {
  update(progress: PullProgress): void;
}

/** `now`: milliseconds of a clock that never goes back. */
export function createProgressBar(
  label: string,
  stream: ProgressStream = process.stderr,
  now: () => number = () => performance.now(),
): ProgressBar {
  const { update, note, stop } = createBar({
    label,
    render: ({ value, total }) => `${Math.floor((100 * value) / total)}%`,
    stream,
  });
  let start: (PullProgress & { at: number }) | undefined;
  return {
    update(progress) {
      // Each source has a speed of its own, and what is on the disk when it begins does not count.
      if (progress.source !== start?.source || progress.bytes < start.bytes) start = { ...progress, at: now() };
      const { bytes, at } = start;
      update({ value: progress.bytes, total: progress.total }, () =>
        renderProgress(progress, { bytes: progress.bytes - bytes, seconds: (now() - at) / 1000 }),
      );
    },
    note,
    stop,
  };
}

/** Size, speed and time left, for example `120.0 MB of 1.12 GB, 10.0 MB/s, 1 min 40 s left, huggingface.co`. */
function renderProgress({ source, bytes, total }: PullProgress, since: { bytes: number; seconds: number }): string {
  const isKnown = since.bytes > 0 && since.seconds > 0;
  const speed = isKnown ? [`${formatBytes(since.bytes / since.seconds)}/s`] : [];
  const left =
    isKnown && bytes < total ? [`${renderDuration(((total - bytes) * since.seconds) / since.bytes)} left`] : [];
  return [`${formatBytes(bytes)} of ${formatBytes(total)}`, ...speed, ...left, source].join(', ');
}

export function renderDuration(seconds: number): string {
  const whole = Math.ceil(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}
