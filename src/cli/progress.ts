/** Progress for people: a bar on a terminal, else a line at every tenth and after a long silence. */
import type { Writable } from 'node:stream';
import { SingleBar } from 'cli-progress';
import yoctoSpinner from 'yocto-spinner';
import { formatBytes, type PullProgress } from '../core/model/store/model-file.js';

/** A stream that may be a terminal, for example `process.stderr`. */
export type ProgressStream = NodeJS.WritableStream & { isTTY?: boolean };

export interface Bar {
  /** Sets the start without writing a line. */
  begin(at: BarPlace): void;
  /** Calls `text` only when it writes. */
  update(at: BarPlace, text: () => string): void;
  /** A line above the bar. */
  note(text: string): void;
  /** Leaves the last state standing. Idempotent. */
  stop(): void;
}

export interface BarPlace {
  readonly value: number;
  readonly total: number;
}

export interface BarOptions {
  label: string;
  /** For example `50%`. */
  render: (at: BarPlace) => string;
  stream: ProgressStream;
  /** Longest time between two lines while updates come. Default: no limit. */
  longestSilenceInMs?: number;
  /** Milliseconds of a clock that never goes back. Default: `performance.now`. */
  now?: (() => number) | undefined;
}

export function createBar(options: BarOptions): Bar {
  return options.stream.isTTY ? createTerminalBar(options) : createLines(options);
}

function createTerminalBar({ label, render, stream }: BarOptions): Bar {
  const format = `${label} [{bar}] {place}  {text}`;
  let bar: SingleBar | undefined;
  const stop = () => {
    bar?.stop();
    bar = undefined;
  };
  return {
    begin: () => undefined,
    update(at, text) {
      const shown = { place: render(at), text: text() };
      if (!bar) {
        bar = new SingleBar({ format, stream, barsize: 24, hideCursor: true, fps: 5 });
        bar.start(at.total, at.value, shown);
      }
      bar.update(at.value, shown);
    },
    note(text) {
      stop();
      stream.write(`${text}\n`);
    },
    stop,
  };
}

function createLines({
  label,
  render,
  stream,
  longestSilenceInMs = Number.POSITIVE_INFINITY,
  now = () => performance.now(),
}: BarOptions): Bar {
  const tenthOf = ({ value, total }: BarPlace) => Math.floor((value / total) * 10);
  let shown = -1;
  let shownAt = now();
  const begin = (at: BarPlace) => {
    shown = tenthOf(at);
    shownAt = now();
  };
  return {
    begin,
    update(at, text) {
      if (tenthOf(at) === shown && now() - shownAt < longestSilenceInMs) return;
      begin(at);
      stream.write(`${label} ${render(at)}  ${text()}\n`);
    },
    note: (text) => {
      stream.write(`${text}\n`);
    },
    stop: () => undefined,
  };
}

/** Bar of a download. */
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
      // Each source has its own speed, and bytes already on the disk do not count.
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

/** Shows the stage of a request as a spinner on a terminal, and nothing elsewhere. */
export function createStageSpinner(text: string, stream: Writable & { isTTY?: boolean }) {
  const spinner = stream.isTTY ? yoctoSpinner({ text, stream }).start() : undefined;
  return {
    /** @param note names the current stage in a few words */
    show(note: string): void {
      if (spinner) spinner.text = note;
    },
    /** May be called again. */
    stop: () => void spinner?.stop(),
  };
}
