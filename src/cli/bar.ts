/** How far something is, for people: a bar where there is a terminal, else a line every tenth and after a long silence. */
import { SingleBar } from 'cli-progress';

/** A stream that may be a terminal, for example `process.stderr`. */
export type ProgressStream = NodeJS.WritableStream & { isTTY?: boolean };

export interface Bar {
  /** Where it begins: no line is written of what was there before. */
  begin(at: BarPlace): void;
  /** `text` is asked for only where it is written. */
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
  /** Between two lines, as long as there is news. Default: any. */
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
  let told = -1;
  let toldAt = now();
  const begin = (at: BarPlace) => {
    told = tenthOf(at);
    toldAt = now();
  };
  return {
    begin,
    update(at, text) {
      if (tenthOf(at) === told && now() - toldAt < longestSilenceInMs) return;
      begin(at);
      stream.write(`${label} ${render(at)}  ${text()}\n`);
    },
    note: (text) => {
      stream.write(`${text}\n`);
    },
    stop: () => undefined,
  };
}
