/**
 * Bounds a piece of work in time and by the caller's signal. Whatever the work does with its signal, the caller
 * gets `cancelled` or `model_timeout` at once, and nothing stays behind on a signal that many calls share.
 */
import { throwIfCancelled, WinnowError } from '../../errors.js';

export interface Deadline {
  /** Fires on cancellation and on time-out. Its own for each call, so libraries may leave listeners on it. */
  readonly signal: AbortSignal;
  remainingMs(): number;
}

/** Where the time-out of a call is set. */
const SETTINGS = 'timeoutMs of the model in the configuration file, callTimeoutMs or timeoutMs from code';

/** The longest time a timer takes. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** @throws WinnowError `cancelled`, `model_timeout`; else what the work throws. */
export async function withDeadline<T>(
  options: { timeoutMs: number; signal: AbortSignal | undefined },
  work: (deadline: Deadline) => Promise<T>,
): Promise<T> {
  const { timeoutMs, signal } = options;
  throwIfCancelled(signal);
  const controller = new AbortController();
  const cancel = () =>
    controller.abort(new WinnowError('cancelled', 'The request was cancelled.', { cause: signal?.reason }));
  const expire = () =>
    controller.abort(
      new WinnowError(
        'model_timeout',
        `The model did not answer within ${timeoutMs} ms. Raise its time-out: ${SETTINGS}.`,
        {
          details: { timeoutMs },
        },
      ),
    );
  const endsAt = performance.now() + timeoutMs;
  const timer = setTimeout(expire, Math.min(timeoutMs, MAX_TIMER_MS));
  signal?.addEventListener('abort', cancel, { once: true });
  const stopped = new Promise<never>((_, reject) => {
    controller.signal.addEventListener('abort', () => reject(controller.signal.reason), { once: true });
  });
  try {
    const deadline = { signal: controller.signal, remainingMs: () => endsAt - performance.now() };
    return await Promise.race([work(deadline), stopped]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', cancel);
  }
}
