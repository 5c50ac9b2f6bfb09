/** Bytes of a download as speed and time left. */

export interface PullProgress {
  source: 'hub' | 'packages';
  /** What is on the disk, with what an earlier run left. Falls only where a download has to start over. */
  bytes: number;
  total: number;
  /** Average of this source in this run; packages arrive one part at a time, so a shorter window would jump. */
  bytesPerSecond: number;
  /** Not known before the first bytes. */
  secondsLeft: number | undefined;
}

export interface MeterOptions {
  source: PullProgress['source'];
  total: number;
  /** What is there already: it does not count as speed. */
  bytes: number;
  onProgress: (progress: PullProgress) => void;
  /** Milliseconds of a clock that never goes back. Default: `performance.now`. */
  now?: () => number;
}

/** The function takes the bytes on the disk, as often as there are new ones. */
export function createMeter(options: MeterOptions): (bytes: number) => void {
  const { source, total, onProgress, now = () => performance.now() } = options;
  let start = { bytes: options.bytes, at: now() };
  return (bytes) => {
    if (bytes < start.bytes) start = { bytes, at: now() };
    const seconds = (now() - start.at) / 1000;
    const bytesPerSecond = seconds > 0 ? (bytes - start.bytes) / seconds : 0;
    const secondsLeft = bytesPerSecond > 0 ? (total - bytes) / bytesPerSecond : undefined;
    onProgress({ source, bytes, total, bytesPerSecond, secondsLeft });
  };
}
