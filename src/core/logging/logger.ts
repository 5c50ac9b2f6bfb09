/** Logs of the service: JSON lines on stderr (stdout is data), with every secret masked as the line is written. */
import { type DestinationStream, destination, type Logger, pino } from 'pino';
import { createRedactor, type RedactOptions } from './redact.js';

export type { Logger } from 'pino';

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export interface LogOptions extends RedactOptions {
  /** Default: `warn`. */
  level?: LogLevel | undefined;
  /** Where lines go. Default: stderr, written at once, so that none is lost at exit. */
  destination?: DestinationStream | undefined;
}

export function createLogger(options: LogOptions = {}): Logger {
  const redact = createRedactor(options);
  return pino(
    {
      level: options.level ?? 'warn',
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      // The one place that all comes through: fields, messages, errors and the bindings of children.
      hooks: { streamWrite: (line) => `${redactLine(line, redact)}\n` },
    },
    options.destination ?? destination({ dest: 2, sync: true }),
  );
}

function redactLine(line: string, redact: (value: unknown) => unknown): string {
  try {
    return JSON.stringify(redact(JSON.parse(line)));
  } catch {
    return String(redact(line.trimEnd()));
  }
}
