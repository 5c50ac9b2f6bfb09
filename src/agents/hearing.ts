/** Callbacks while a call runs: the tool's progress, its server's logs, and questions for a person. */
import type { JsonSchema } from '../core/catalog/tool.js';
import type { LogMessage, Progress } from './contracts.js';

/** A question of a tool's server to the person at the client, during a call: a form, as MCP defines it. */
export interface ServerQuestion {
  /** The server that asks, as the configuration names it. */
  readonly server: string;
  /** In the server's own words, on one line. */
  readonly message: string;
  /** An object of primitive fields; each text for people is on one line. */
  readonly requestedSchema: JsonSchema;
}

export interface ServerAnswer {
  readonly action: 'accept' | 'decline' | 'cancel';
  /** What the person entered; only for the server that asked. */
  readonly content?: Readonly<Record<string, string | number | boolean | string[]>> | undefined;
}

/** @param signal fires when the answer is no longer needed */
export type AskPerson = (question: ServerQuestion, signal: AbortSignal) => Promise<ServerAnswer>;

export interface CallListeners {
  /** Called with each progress report of the tool. Default: not called. */
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /** Called with each log message of the tool's server. Default: not called. */
  readonly onLog?: ((message: LogMessage) => void) | undefined;
  /** Asks the person who makes the call. Default: questions are declined, with a note. */
  readonly onQuestion?: AskPerson | undefined;
}
