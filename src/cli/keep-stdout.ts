/**
 * stdout for a protocol alone: whatever else in this process prints, for example a function of the user's that runs a
 * tool, goes to stderr and does not break a message in two.
 */
import { Writable } from 'node:stream';

export interface KeptStdout {
  /** Writes to what was stdout; fails where its reader is gone. */
  readonly stdout: Writable;
  release(): void;
}

export function keepStdout({ stdout, stderr }: { stdout: Writable; stderr: Writable } = process): KeptStdout {
  const { write } = stdout;
  const kept = new Writable({
    decodeStrings: false,
    write: (chunk, encoding, done) => void write.call(stdout, chunk, encoding, done),
  });
  // The write that failed says it too; unheard, it would end the process.
  const onError = (): void => {};
  stdout.on('error', onError);
  stdout.write = stderr.write.bind(stderr);
  return {
    stdout: kept,
    release() {
      stdout.write = write;
      stdout.off('error', onError);
    },
  };
}
