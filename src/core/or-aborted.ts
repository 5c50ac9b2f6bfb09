/**
 * What `work` gives, unless the signal fires first: a program that does not heed it must hold nobody up. No listener stays on
 * a signal that lives longer than the work.
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
