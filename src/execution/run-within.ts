/**
 * Bounds the run of a tool. The caller gets its answer at the latest at the time-out; `ended` tells when the tool
 * has really stopped, or has been given up.
 */
import { type CallFailure, describeThrown, fail } from './failure.js';

export interface Bounds {
  readonly timeoutMs: number;
  /** How long a stopped tool is waited for. */
  readonly stopGraceMs: number;
  readonly signal?: AbortSignal | undefined;
}

export interface Bounded<T> {
  readonly result: Promise<T | CallFailure>;
  readonly ended: Promise<void>;
}

/** `work` is given a signal of its own that fires at the time-out and on cancellation. Neither promise rejects. */
export function runWithin<T>(bounds: Bounds, work: (signal: AbortSignal) => Promise<T>): Bounded<T> {
  const { timeoutMs, stopGraceMs, signal } = bounds;
  const controller = new AbortController();
  let graceTimer: NodeJS.Timeout | undefined;
  let stopped: (failure: CallFailure) => void = () => {};
  let givenUp: () => void = () => {};
  const failure = new Promise<CallFailure>((resolve) => {
    stopped = resolve;
  });
  const grace = new Promise<void>((resolve) => {
    givenUp = resolve;
  });
  const stop = (reason: CallFailure) => {
    if (controller.signal.aborted) return;
    stopped(reason);
    unbind();
    graceTimer = setTimeout(givenUp, stopGraceMs).unref();
    controller.abort(new DOMException(reason.reason, reason.code === 'timeout' ? 'TimeoutError' : 'AbortError'));
  };
  const cancel = () => stop(fail('cancelled', 'The caller cancelled the call.'));
  const timer = setTimeout(
    () => stop(fail('timeout', `The tool did not end within ${timeoutMs} ms and was stopped (limit timeoutMs).`)),
    timeoutMs,
  );
  const unbind = () => {
    clearTimeout(timer);
    signal?.removeEventListener('abort', cancel);
  };
  signal?.addEventListener('abort', cancel, { once: true });
  if (signal?.aborted) cancel();
  const done = settle(work, controller.signal).finally(() => {
    unbind();
    clearTimeout(graceTimer);
  });
  return { result: Promise.race([failure, done]), ended: Promise.race([done.then(() => undefined), grace]) };
}

/** Also what is thrown before the first await, and what is no error. */
async function settle<T>(work: (signal: AbortSignal) => Promise<T>, signal: AbortSignal): Promise<T | CallFailure> {
  try {
    return await work(signal);
  } catch (thrown) {
    return fail('tool_failed', `The tool failed: ${describeThrown(thrown)}`);
  }
}
