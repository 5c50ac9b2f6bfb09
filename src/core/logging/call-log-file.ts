/** The file of the call log: JSON lines, appended, masked, never a reason for a request to fail. */
import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { WinnowError } from '../errors.js';
import { createRedactor, type RedactOptions } from './redact.js';

export interface CallLogEntry {
  readonly [field: string]: unknown;
}

export interface CallLog {
  readonly isOn: boolean;
  /** Never throws: a full disk must not fail a request. */
  write(entry: CallLogEntry): void;
  /** Idempotent. */
  close(): void;
}

export interface CallLogOptions extends RedactOptions {
  /** A file to which lines are appended, readable by its owner only. */
  destination: 'off' | (string & {});
  /** Told once, when writing fails for the first time. */
  onError?: (error: unknown) => void;
}

/** @throws WinnowError `invalid_option` when the file cannot be opened. */
export function createCallLog(options: CallLogOptions): CallLog {
  if (options.destination === 'off') return { isOn: false, write: () => {}, close: () => {} };
  let file: number | undefined = openForAppending(options.destination);
  let hasFailed = false;
  const redact = createRedactor(options);
  return {
    isOn: true,
    write(entry) {
      if (file === undefined) return;
      try {
        writeSync(file, `${JSON.stringify(redact(entry))}\n`);
      } catch (error) {
        if (!hasFailed) options.onError?.(error);
        hasFailed = true;
      }
    },
    close() {
      if (file !== undefined) closeSync(file);
      file = undefined;
    },
  };
}

function openForAppending(path: string): number {
  try {
    mkdirSync(dirname(path), { recursive: true });
    return openSync(path, 'a', 0o600);
  } catch (cause) {
    throw new WinnowError('invalid_option', `The call log "${path}" cannot be written.`, { cause });
  }
}
