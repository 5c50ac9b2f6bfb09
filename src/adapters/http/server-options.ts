/** Options of the server, with every default. */

export interface ServerOptions {
  /** Longest body of a request, in bytes; a longer one is answered 413. Default: 1 MiB. */
  bodyLimitBytes: number;
  /** Most requests at once, running or waiting for the model; the next is answered 503. Default: 64. */
  concurrency: number;
  /** `Retry-After` of a refused request, in seconds. Default: 5. */
  retryAfterSeconds: number;
  /** Between comments on a silent event stream, so that no proxy cuts it, in milliseconds. Default: 15,000. */
  heartbeatMs: number;
  /** Time limit to receive a whole request, in milliseconds. Default: 30,000. */
  receiveTimeoutMs: number;
  /** Time limit for running requests when the server stops, in milliseconds. Default: 25,000. */
  stopTimeoutMs: number;
}

export const SERVER_DEFAULTS: Readonly<ServerOptions> = {
  bodyLimitBytes: 1_048_576,
  concurrency: 64,
  retryAfterSeconds: 5,
  heartbeatMs: 15_000,
  receiveTimeoutMs: 30_000,
  // Below the 30 s after which container platforms kill.
  stopTimeoutMs: 25_000,
};
