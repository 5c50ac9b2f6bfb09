/**
 * The public API throws one class with a code; this table says how a caller can react to each code.
 * Mistakes of a model are values instead (see `model/structured.ts`).
 */

interface ErrorMeaning {
  meaning: string;
  httpStatus: number;
  exitCode: number;
  retry: boolean;
}

type Row = (httpStatus: number, exitCode: number, meaning: string) => ErrorMeaning;
const final: Row = (httpStatus, exitCode, meaning) => ({ meaning, httpStatus, exitCode, retry: false });
const transient: Row = (httpStatus, exitCode, meaning) => ({ meaning, httpStatus, exitCode, retry: true });

/** `final`: the same call fails again. `transient`: it may succeed later without a change. */
export const ERROR_TABLE = {
  invalid_request: final(400, 2, 'The request is not of the documented form.'),
  invalid_option: final(500, 2, 'An option, flag or configuration value is not usable.'),
  invalid_catalog: final(500, 3, 'The catalogue, or an entry of it under strict, is not usable.'),
  source_failed: transient(502, 3, 'A catalogue source could not be read.'),
  unauthenticated: final(401, 2, 'The caller did not prove who they are.'),
  forbidden: final(403, 2, 'The request comes from a place, or by a way, that may not ask.'),
  not_found: final(404, 2, 'What was asked for does not exist, or is not visible to the caller.'),
  prompt_invalid: final(500, 2, 'A prompt file is missing, or its placeholders are not the expected ones.'),
  model_unavailable: transient(503, 4, 'No model can be loaded or reached.'),
  model_refused: final(502, 4, 'The model server refused the call (key, model name, or form).'),
  model_failed: transient(502, 4, 'The model server failed, also after retries.'),
  model_timeout: transient(504, 4, 'The model did not answer in time.'),
  context_exceeded: final(413, 4, 'The prompt is larger than the context of the model.'),
  plan_invalid: transient(502, 5, 'The model wrote no valid plan, also after the repair.'),
  overloaded: transient(503, 6, 'Too many requests are waiting.'),
  quota_exceeded: transient(429, 6, 'A limit for one user is reached.'),
  store_failed: transient(503, 7, 'The store can not be opened, read or written.'),
  conflict: transient(409, 6, 'Another process is changing the same thing.'),
  key_reused: final(422, 2, 'The key of the request stands for another one.'),
  outcome_unknown: final(409, 6, 'The request broke off; whether it had its effect is unknown.'),
  gate_failed: final(422, 8, 'An evaluation is below a bar that was set for it.'),
  cancelled: final(499, 130, 'The caller cancelled the request.'),
  internal: final(500, 1, 'A fault of Winnow itself: please report it.'),
} as const satisfies Record<string, ErrorMeaning>;

export type ErrorCode = keyof typeof ERROR_TABLE;

interface ErrorFacts {
  /** One problem per line, each with the path of the wrong field. */
  issues?: readonly string[];
  /** Facts for a bug report: sizes, names, statuses. Never keys or prompts. */
  details?: Readonly<Record<string, unknown>>;
  cause?: unknown;
}

export class WinnowError extends Error {
  readonly code: ErrorCode;
  readonly issues: readonly string[];
  readonly details: Readonly<Record<string, unknown>>;

  constructor(code: ErrorCode, message: string, facts: ErrorFacts = {}) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.name = 'WinnowError';
    this.code = code;
    this.issues = facts.issues ?? [];
    this.details = facts.details ?? {};
  }

  get meaning(): ErrorMeaning {
    return ERROR_TABLE[this.code];
  }

  toJSON(): Record<string, unknown> {
    return { code: this.code, message: this.message, issues: this.issues, details: this.details };
  }
}

/** The message of a thrown value. It checks the shape and not the class, since errors of Node may come from another realm. */
export function messageOf(thrown: unknown): string {
  const message: unknown = typeof thrown === 'object' && thrown !== null ? Reflect.get(thrown, 'message') : undefined;
  return typeof message === 'string' ? message : String(thrown);
}

/** An error's message for the middle of a sentence. `fetch` only says "fetch failed"; the reason is in its cause. */
export function reasonOf(error: unknown): string {
  const reason = messageOf(error).trim().replace(/\.$/, '');
  const cause = error instanceof Error && error.cause instanceof Error ? `: ${reasonOf(error.cause)}` : '';
  return `${reason}${cause}`;
}

/** The result of a function, or undefined where it throws. */
export function orUndefined<T>(make: () => T): T | undefined {
  try {
    return make();
  } catch {
    return undefined;
  }
}

/** The error as a WinnowError: itself, `cancelled` for an abort, else `internal` with the cause kept. */
export function toWinnowError(error: unknown): WinnowError {
  if (error instanceof WinnowError) return error;
  if (error instanceof Error && error.name === 'AbortError') {
    return new WinnowError('cancelled', 'The request was cancelled.', { cause: error });
  }
  const message = messageOf(error);
  return new WinnowError('internal', message, { cause: error });
}

export function throwIfCancelled(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new WinnowError('cancelled', 'The request was cancelled.', { cause: signal.reason });
}

/**
 * Resolves as `work` does, unless the signal fires first; the caller then stops waiting for work that ignores the signal.
 * The listener is removed in the end, since the signal may outlive the work.
 * @throws the reason of the signal, immediately where it has fired already
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

/** Codes of Node and undici for a connection that was never established. */
const UNREACHED = /^(?:EAI_AGAIN|ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|UND_ERR_CONNECT_TIMEOUT|ERR_TLS_.*)$/u;
const UNTRUSTED = /^(?:ERR_TLS_CERT_|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_)/u;

/**
 * Whether the request never reached the server, so that a retry can repeat no effect.
 * @param syscall of the error, where it has one: a host may also become unreachable in the middle of an exchange
 */
export function isNeverConnected(code: string, syscall?: unknown): boolean {
  return syscall !== 'read' && syscall !== 'write' && (UNREACHED.test(code) || isUntrusted(code));
}

export function isUntrusted(code: string): boolean {
  return UNTRUSTED.test(code);
}
