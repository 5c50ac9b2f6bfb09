/** One at a time, in the order of arrival. Who leaves the queue by its signal goes at once. */
import { WinnowError } from '../../errors.js';
import { orAborted } from '../../promises.js';

export interface Turnstile {
  /** Waits for the turn. The returned function must be called when done; a second call does nothing. */
  enter(signal: AbortSignal | undefined): Promise<() => void>;
  /** `enter`, the work, and the way out; a cancelled caller gets its error at once, the place is kept until the work ends. */
  pass<T>(signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T>;
  /**
   * `enter` and work whose result takes the place over: it calls `leave` when done. Where no result reaches the caller,
   * since the work fails or the caller is cancelled, the place is free as soon as the work has ended.
   */
  hold<T>(signal: AbortSignal | undefined, work: (leave: () => void) => Promise<T>): Promise<T>;
  /** Refuses newcomers and waits for who is inside. */
  close(): Promise<void>;
}

export function createTurnstile(): Turnstile {
  let last: Promise<void> = Promise.resolve();
  let closed = false;

  async function enter(signal: AbortSignal | undefined): Promise<() => void> {
    if (closed) throw new WinnowError('model_unavailable', 'The local model is closed.');
    let leave: () => void = () => {};
    const before = last;
    const done = new Promise<void>((resolve) => {
      leave = resolve;
    });
    last = before.then(() => done);
    try {
      await orCancelled(before, signal);
    } catch (error) {
      leave();
      throw error;
    }
    return leave;
  }

  return {
    enter,
    async pass(signal, work) {
      const leave = await enter(signal);
      const result = work().finally(leave);
      return orCancelled(result, signal);
    },
    async hold(signal, work) {
      const leave = await enter(signal);
      const result = work(leave);
      try {
        return await orCancelled(result, signal);
      } catch (error) {
        void result.then(leave, leave);
        throw error;
      }
    },
    async close() {
      closed = true;
      await last;
    },
  };
}

/** The promise, or `cancelled` as soon as the signal fires. */
async function orCancelled<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return promise;
  try {
    return await orAborted(promise, signal);
  } catch (error) {
    if (!signal.aborted || error !== signal.reason) throw error;
    throw new WinnowError('cancelled', 'The request was cancelled.', { cause: error });
  }
}
