/** Logs of the service: JSON lines on stderr, since stdout is data. They hold no keys or fields with secret names. */
import { type DestinationStream, destination, type Logger, pino } from 'pino';
import { reasonOf, type WinnowError } from '../../core/errors.js';
import { createKeyMask, MASK, maskKeysIn } from '../../core/secret-forms.js';

export type { Logger } from 'pino';

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export interface LogOptions {
  /** Default: `warn`. */
  level?: LogLevel | undefined;
  /** Literal values that no line may hold: keys of the configuration. Default: none. */
  secrets?: readonly string[] | undefined;
  /** Where lines go. Default: stderr, written synchronously, so that none is lost at exit. */
  destination?: DestinationStream | undefined;
}

/** Masked at the top of a line and up to two objects deep. */
const SECRET_FIELDS = ['apiKey', 'authorization', 'cookie', 'password', 'secret', 'token', 'accessToken'];

export function createLogger({ level = 'warn', secrets = [], destination: place }: LogOptions = {}): Logger {
  const mask = createKeyMask(secrets);
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: SECRET_FIELDS.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]), censor: MASK },
      // Every line passes here: fields, messages, errors and the bindings of child loggers.
      hooks: { streamWrite: (line) => maskKeysIn(mask(line)) },
    },
    place ?? destination({ dest: 2, sync: true }),
  );
}

/**
 * Fields for the log line of a failed request. They leave out what may quote a user or a model: the issues, which quote
 * arguments, and the reason and unknown names of a selection.
 */
export function failureFacts({ code, details, cause }: WinnowError): Record<string, unknown> {
  const stack = code === 'internal' && cause instanceof Error ? cause.stack : undefined;
  const reason = code === 'overloaded' && cause instanceof Error ? reasonOf(cause) : undefined;
  const { reason: _, dropped: __, ...selection } = { reason: '', dropped: [], ...Object(details.selection) };
  return { code, details: details.selection === undefined ? details : { ...details, selection }, stack, reason };
}
