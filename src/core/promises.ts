/** Work that others wait for: broken off by a signal, or begun once for all who ask. */

/**
 * Gives what `work` gives, unless the signal fires first: nobody waits for a program that does not heed it. No listener
 * stays on a signal that outlives the work.
 * @throws the reason of the signal, at once where it has fired already
 */
export async function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let stop: () => void = () => {};
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
  try {
    return await Promise.race([aborted, work]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

export interface Opening<T> {
  /** @throws what opening it throws */
  get(): Promise<T>;
  /** Undefined while nobody has asked, or since it failed or was forgotten. */
  peek(): Promise<T> | undefined;
  /** The next who asks opens another one. */
  forget(): void;
}

/** Opens something once for all who ask; after a failure the next who asks opens it again. */
export function createOpening<T>(open: () => Promise<T>): Opening<T> {
  let opening: Promise<T> | undefined;
  return {
    get() {
      if (opening) return opening;
      const mine = open();
      opening = mine;
      mine.catch(() => {
        // Another one may have been opened in its place meanwhile.
        if (opening === mine) opening = undefined;
      });
      return mine;
    },
    peek: () => opening,
    forget() {
      opening = undefined;
    },
  };
}
