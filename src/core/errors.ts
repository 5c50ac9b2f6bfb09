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

const final = (facts: Omit<ErrorMeaning, 'retry'>): ErrorMeaning => ({ ...facts, retry: false });
const passing = (facts: Omit<ErrorMeaning, 'retry'>): ErrorMeaning => ({ ...facts, retry: true });

/** `final`: the same call fails again. `passing`: it may succeed later without a change. */
export const ERROR_TABLE = {
  invalid_request: final({ meaning: 'The request is not of the documented form.', httpStatus: 400, exitCode: 2 }),
  invalid_option: final({
    meaning: 'An option, flag or configuration value is not usable.',
    httpStatus: 500,
    exitCode: 2,
  }),
  invalid_catalog: final({
    meaning: 'The catalogue, or an entry of it under --strict, is not usable.',
    httpStatus: 500,
    exitCode: 3,
  }),
  source_failed: passing({ meaning: 'A catalogue source could not be read.', httpStatus: 502, exitCode: 3 }),
  unauthenticated: final({ meaning: 'The caller did not prove who they are.', httpStatus: 401, exitCode: 2 }),
  forbidden: final({
    meaning: 'The request comes from a place, or by a way, that may not ask.',
    httpStatus: 403,
    exitCode: 2,
  }),
  not_found: final({
    meaning: 'What was asked for does not exist, or is not visible to the caller.',
    httpStatus: 404,
    exitCode: 2,
  }),
  prompt_invalid: final({
    meaning: 'A prompt file is missing, or its placeholders are not the expected ones.',
    httpStatus: 500,
    exitCode: 2,
  }),
  model_unavailable: passing({ meaning: 'No model can be loaded or reached.', httpStatus: 503, exitCode: 4 }),
  model_refused: final({
    meaning: 'The model server refused the call (key, model name, or form).',
    httpStatus: 502,
    exitCode: 4,
  }),
  model_failed: passing({ meaning: 'The model server failed, also after retries.', httpStatus: 502, exitCode: 4 }),
  model_timeout: passing({ meaning: 'The model did not answer in time.', httpStatus: 504, exitCode: 4 }),
  context_exceeded: final({
    meaning: 'The prompt is larger than the context of the model.',
    httpStatus: 413,
    exitCode: 4,
  }),
  plan_invalid: passing({
    meaning: 'The model wrote no valid plan, also after the repair.',
    httpStatus: 502,
    exitCode: 5,
  }),
  overloaded: passing({ meaning: 'Too many requests are waiting.', httpStatus: 503, exitCode: 6 }),
  quota_exceeded: passing({ meaning: 'A limit for one user is reached.', httpStatus: 429, exitCode: 6 }),
  store_failed: passing({ meaning: 'The store can not be opened, read or written.', httpStatus: 503, exitCode: 7 }),
  conflict: passing({ meaning: 'Another process is changing the same thing.', httpStatus: 409, exitCode: 6 }),
  key_reused: final({ meaning: 'The key of the request stands for another one.', httpStatus: 422, exitCode: 2 }),
  outcome_unknown: final({
    meaning: 'The request broke off; nobody knows whether it had its effect.',
    httpStatus: 409,
    exitCode: 6,
  }),
  gate_failed: final({ meaning: 'An evaluation is below a bar that was set for it.', httpStatus: 422, exitCode: 8 }),
  cancelled: final({ meaning: 'The caller cancelled the request.', httpStatus: 499, exitCode: 130 }),
  internal: final({ meaning: 'A fault of Winnow itself: please report it.', httpStatus: 500, exitCode: 1 }),
} as const satisfies Record<string, ErrorMeaning>;

export type ErrorCode = keyof typeof ERROR_TABLE;

interface ErrorFacts {
  /** One problem a line, each with the path of the wrong field. */
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

/** Whether the request never reached the server, so that a retry can repeat no effect. */
export function isNeverConnected(code: string): boolean {
  return UNREACHED.test(code) || isUntrusted(code);
}

export function isUntrusted(code: string): boolean {
  return UNTRUSTED.test(code);
}
