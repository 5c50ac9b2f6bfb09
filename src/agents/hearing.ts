/** How whoever makes a call hears of it while it runs, from the tool itself: progress, logs, and questions for a person. */
import type { JsonSchema } from '../core/catalog/tool.js';
import type { LogMessage, Progress } from './contracts.js';

/** What the server of a tool asks the person at the client while it works on a call: a form, as MCP has it. */
export interface ServerQuestion {
  /** The server that asks, as the configuration names it. */
  readonly server: string;
  /** In the server's own words, on one line. */
  readonly message: string;
  /** An object of primitive fields; its words for people are on one line each. */
  readonly requestedSchema: JsonSchema;
}

export interface ServerAnswer {
  readonly action: 'accept' | 'decline' | 'cancel';
  /** What the person wrote into the form; for the server that asked alone. */
  readonly content?: Readonly<Record<string, string | number | boolean | string[]>> | undefined;
}

/** @param signal fires when the answer is not waited for any more */
export type AskPerson = (question: ServerQuestion, signal: AbortSignal) => Promise<ServerAnswer>;

export interface CallHearing {
  /** Told what the tool says of its progress. Default: nobody is. */
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /** Told what the server of the tool logs meanwhile. Default: nobody is. */
  readonly onLog?: ((message: LogMessage) => void) | undefined;
  /** Asks the person whose call it is. Default: there is none, and what a server asks is declined, with a note. */
  readonly onQuestion?: AskPerson | undefined;
}
