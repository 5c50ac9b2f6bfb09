/**
 * Bounds the run of a tool. The caller gets its answer at the time-out at the latest; `ended` resolves when the tool
 * has really stopped or is abandoned.
 */
import { type CallFailure, describeThrown, fail } from './failure.js';

interface Bounds {
  readonly timeoutMs: number;
  /** Total time, however often the work is prolonged; at least `timeoutMs`. */
  readonly totalTimeoutMs: number;
  /** How long to wait for a stopped tool to end. */
  readonly stopGraceMs: number;
  readonly signal?: AbortSignal | undefined;
}

interface Bounded<T> {
  readonly result: Promise<T | CallFailure>;
  readonly ended: Promise<void>;
}

interface Within {
  /** Fires at the time-out and on cancellation. */
  readonly signal: AbortSignal;
  /** Gives the work `timeoutMs` from now on. */
  prolong(): void;
}

/** Neither promise rejects. */
export function runWithin<T>(bounds: Bounds, work: (within: Within) => Promise<T>): Bounded<T> {
  const { timeoutMs, stopGraceMs, signal } = bounds;
  const endsAt = performance.now() + Math.max(timeoutMs, bounds.totalTimeoutMs);
  const controller = new AbortController();
  let isOver = false;
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
  let isLast = false;
  const expire = () => {
    const [within, limit] = isLast ? [bounds.totalTimeoutMs, 'totalTimeoutMs'] : [timeoutMs, 'timeoutMs'];
    stop(fail('timeout', `The tool did not end within ${within} ms and was stopped (limit ${limit}).`));
  };
  let timer = setTimeout(expire, timeoutMs);
  const prolong = () => {
    if (isOver) return;
    clearTimeout(timer);
    const left = Math.max(0, endsAt - performance.now());
    isLast = left < timeoutMs;
    timer = setTimeout(expire, Math.min(timeoutMs, left));
  };
  const unbind = () => {
    isOver = true;
    clearTimeout(timer);
    signal?.removeEventListener('abort', cancel);
  };
  signal?.addEventListener('abort', cancel, { once: true });
  if (signal?.aborted) cancel();
  const done = settle(() => work({ signal: controller.signal, prolong })).finally(() => {
    unbind();
    clearTimeout(graceTimer);
  });
  return { result: Promise.race([failure, done]), ended: Promise.race([done.then(() => undefined), grace]) };
}

/** Also catches what is thrown before the first await, and thrown values that are no errors. */
async function settle<T>(work: () => Promise<T>): Promise<T | CallFailure> {
  try {
    return await work();
  } catch (thrown) {
    return fail('tool_failed', `The tool failed: ${describeThrown(thrown)}`);
  }
}
