/** The stage that a request is at, turning on a terminal; nothing where nobody watches. */
import type { Writable } from 'node:stream';
import yoctoSpinner from 'yocto-spinner';

export interface StageSpinner {
  /** @param note what is done now, in a few words */
  show(note: string): void;
  /** The line is taken away. May be called again. */
  stop(): void;
}

export function createStageSpinner(text: string, stream: Writable & { isTTY?: boolean }): StageSpinner {
  if (!stream.isTTY) return { show: () => {}, stop: () => {} };
  const spinner = yoctoSpinner({ text, stream }).start();
  return {
    show: (note) => {
      spinner.text = note;
    },
    stop: () => {
      spinner.stop();
    },
  };
}
