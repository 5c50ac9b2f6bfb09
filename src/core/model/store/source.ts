/** What a place that has model files must be able to do: continue a file that has begun. */
import type { PartialFile } from './partial-file.js';
import type { PullProgress } from './progress.js';

export interface Continuation {
  partial: PartialFile;
  signal: AbortSignal | undefined;
  /** Takes the bytes on the disk after each piece. */
  onBytes: (bytes: number) => void;
  /** For what a user should know and can not see from the result. */
  onNotice: (notice: string) => void;
}

export interface Source {
  readonly id: PullProgress['source'];
  /** For messages. */
  readonly title: string;
  /**
   * Appends until the file has its full size; what was written before a fault stays.
   * @throws SourceFault when the source has no (more) bytes; WinnowError for cancellation and the disk.
   */
  fill(continuation: Continuation): Promise<void>;
}
