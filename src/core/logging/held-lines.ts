/** A place for log lines that keeps them until the one line that must be the first is written. */
import type { DestinationStream } from 'pino';

export interface HeldLines extends DestinationStream {
  /** What `first` writes goes on at once, then what was held, and from then on everything. Idempotent. */
  release(first?: () => void): void;
}

export function holdLines(destination: DestinationStream): HeldLines {
  const held: string[] = [];
  let isReleased = false;
  return {
    write(line) {
      if (isReleased) destination.write(line);
      else held.push(line);
    },
    release(first) {
      isReleased = true;
      first?.();
      for (const line of held.splice(0)) destination.write(line);
    },
  };
}
