/** The parts of a router, and what they may know of a session. */

import { z } from 'zod';
import type { Catalog } from '../core/catalog/catalog.js';
import type { View } from '../core/catalog/scope.js';
import type { Tool } from '../core/catalog/tool.js';
import type { OpenPlace } from '../core/catalog/validate.js';
import { parseOptions } from '../core/parse.js';
import type { CallResult, ListOutput, ListRequest, Refusal, SearchOutput, SearchRequest } from './contracts.js';
import type { PolicySource } from './policy/policy-file.js';
import type { QuotasInput, RetentionInput } from './quotas.js';
import type { TelemetryEvent } from './records.js';
import type { Prepared } from './sandbox/prepare-arguments.js';
import type { DecidedCall, SandboxCall } from './sandbox/sandbox.js';
import type { Store } from './store/sql/sql-store.js';

/** A session as search and lists see it. They must not find, count or hint at what is not allowed. */
export interface SessionContext {
  readonly session: string;
  readonly user?: string | undefined;
  readonly project?: string | undefined;
  /** The caller's scope; only allowed tools of it may be shown. */
  readonly view: View;
  readonly isAllowed: (tool: Tool) => boolean;
  /** Equal audiences promise equal results of `isAllowed`, so an index may cache what each may see. */
  readonly audience?: string | undefined;
  readonly isEnabled: (tool: Tool) => boolean;
  readonly signal?: AbortSignal | undefined;
}

export interface ExecuteRequest extends Readonly<SandboxCall> {
  readonly decided: DecidedCall;
  /** A private copy of the arguments that the decision was about. */
  readonly arguments: Record<string, unknown>;
  readonly session: string;
}

/** The arguments as the tool will get them, or why they are invalid. */
export type PreparedArguments =
  | Prepared
  | (Refusal & { readonly ok: false; readonly issues?: readonly string[] | undefined });

export interface RouterParts {
  store: Store;
  /** The current tools. Called for each request, so it may be reloaded. */
  catalog: () => Catalog;
  policy: PolicySource;
  /** Tools that were approved as always on for a user; policy and approvals still apply to them. Default: none. */
  alwaysOn?: ((user: string) => readonly string[]) | undefined;
  search: (request: SearchRequest, context: SessionContext) => Promise<SearchOutput>;
  /** Narrow lists. Default: they are refused as not ready. */
  handOut?: ((request: ListRequest, context: SessionContext) => Promise<ListOutput>) | undefined;
  /**
   * Checks arguments and fills in defaults. `execute` gets exactly these, so policy and approvals judge what really runs.
   * `open` lists places whose values are not known yet, and so not checked.
   */
  prepare: (tool: Tool, given: unknown, open?: readonly OpenPlace[]) => PreparedArguments;
  /** Runs a call that was allowed. What a tool does wrong is a result, not an error. */
  execute: (request: ExecuteRequest) => Promise<CallResult>;
  /** Why calls of a tool fail for everybody now; checked before approvals. Default: calls are always tried. */
  whyDown?: ((tool: Tool) => string | undefined) | undefined;
  /** Notifies clients when other tools may be callable. The router reports policy changes to it. Default: its own. */
  changes?: ToolChanges | undefined;
  /** Called with each event after the store has it, for example to count it. */
  onEvent?: ((event: TelemetryEvent) => void) | undefined;
  options?: RouterOptions | undefined;
  /** Default: the system clock. */
  clock?: (() => Date) | undefined;
}

export interface RouterOptions {
  /** How long a session may be idle before it ends, in milliseconds. Default: 24 hours. */
  sessionIdleMs?: number | undefined;
  /** When clients put newly enabled tools before their model. Default: `next_request`. */
  visibleFrom?: 'next_request' | 'next_turn' | undefined;
  /** How long records are kept. Default: that of `retentionSchema`. */
  retention?: RetentionInput | undefined;
  /** What one user may use. Default: that of `quotasSchema`. */
  quotas?: QuotasInput | undefined;
}

// Notifies adapters that other tools may be callable now; each checks that for its own session.

export interface ToolChanges {
  /** @returns a function that removes the listener */
  listen(listener: () => void): () => void;
  notify(): void;
}

export function createToolChanges(): ToolChanges {
  const listeners = new Set<() => void>();
  return {
    listen(listener) {
      // A new wrapper each time, so that the same function can listen twice.
      const own = () => listener();
      listeners.add(own);
      return () => void listeners.delete(own);
    },
    notify() {
      for (const listener of [...listeners]) listener();
    },
  };
}

// Settings of a server's sessions.

export const sessionSettingsSchema = z.strictObject({
  idleMinutes: z.number().min(1).max(525_600).default(1_440).describe('How long a session may be idle before it ends.'),
  visibleFrom: z
    .enum(['next_request', 'next_turn'])
    .default('next_request')
    .describe('When clients put newly enabled tools before their model; the answer of tool_enable reports it.'),
});

const MINUTE_MS = 60_000;

/** @throws WinnowError `invalid_option` naming each field that is wrong. */
export function parseSessionSettings(input: unknown): RouterOptions {
  const { idleMinutes, visibleFrom } = parseOptions(sessionSettingsSchema, input, 'sessions');
  return { sessionIdleMs: idleMinutes * MINUTE_MS, visibleFrom };
}
