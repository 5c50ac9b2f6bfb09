/** What a router is made of, and what of a session its parts may know. */

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
import type { SandboxCall } from './sandbox/sandbox.js';
import type { Store } from './store/store.js';

/** A session as search and hand-outs see it. What is not allowed must not be found, counted or hinted at. */
export interface SessionContext {
  readonly session: string;
  readonly user?: string | undefined;
  readonly project?: string | undefined;
  /** The caller's scope; of it only what is allowed may be shown. */
  readonly view: View;
  readonly isAllowed: (tool: Tool) => boolean;
  /** Equal audiences promise equal answers of `isAllowed`, so that an index may remember what it shows to one. */
  readonly audience?: string | undefined;
  readonly isEnabled: (tool: Tool) => boolean;
  readonly signal?: AbortSignal | undefined;
}

export interface ExecuteRequest extends Readonly<SandboxCall> {
  /** A copy of what was decided on; nobody else holds it. */
  readonly arguments: Record<string, unknown>;
  readonly session: string;
}

/** The arguments as the tool will get them, or why it can't. */
export type PreparedArguments =
  | Prepared
  | (Refusal & { readonly ok: false; readonly issues?: readonly string[] | undefined });

export interface RouterParts {
  store: Store;
  /** The tools of now; asked anew for each request, so it may be reloaded. */
  catalog: () => Catalog;
  policy: PolicySource;
  /** Tools that were approved as always on for a user; policy and approvals hold for them as for all. Default: none. */
  alwaysOn?: ((user: string) => readonly string[]) | undefined;
  search: (request: SearchRequest, context: SessionContext) => Promise<SearchOutput>;
  /** Narrow lists. Default: they are not ready. */
  handOut?: ((request: ListRequest, context: SessionContext) => Promise<ListOutput>) | undefined;
  /**
   * Checks arguments and fills defaults in, exactly as `execute` does: policy and approvals judge what really runs.
   * `open` are places whose values are not known, and so not judged.
   */
  prepare: (tool: Tool, given: unknown, open?: readonly OpenPlace[]) => PreparedArguments;
  /** Runs a call that was allowed. What a tool does wrong is a result, not an error. */
  execute: (request: ExecuteRequest) => Promise<CallResult>;
  /** Why no call of a tool is tried now, for anybody: asked before an approval is. Default: calls are tried. */
  whyDown?: ((tool: Tool) => string | undefined) | undefined;
  /** Tells of what changes which tools may be called: the router of a changed policy, others of the rest. Default: its own. */
  changes?: ToolChanges | undefined;
  /** Told of each event after it is in the store, for example to count it. */
  onEvent?: ((event: TelemetryEvent) => void) | undefined;
  options?: RouterOptions | undefined;
  /** Default: the clock of the machine. */
  clock?: (() => Date) | undefined;
}

export interface RouterOptions {
  /** A session that does nothing for so long is over, in milliseconds. Default: 24 hours. */
  sessionIdleMs?: number | undefined;
  /** When clients put newly enabled tools before their model. Default: `next_request`. */
  visibleFrom?: 'next_request' | 'next_turn' | undefined;
  /** For how long records last. Default: that of `retentionSchema`. */
  retention?: RetentionInput | undefined;
  /** How much one user may take. Default: that of `quotasSchema`. */
  quotas?: QuotasInput | undefined;
}

// Who shows tools to clients hears that others may be callable now. Whether they are, each looks for its own session.

export interface ToolChanges {
  /** @returns a function that ends it */
  listen(listener: () => void): () => void;
  tell(): void;
}

export function createToolChanges(): ToolChanges {
  const listeners = new Set<() => void>();
  return {
    listen(listener) {
      // A listener of its own each time, also where the same function listens twice.
      const own = () => listener();
      listeners.add(own);
      return () => void listeners.delete(own);
    },
    tell() {
      for (const listener of [...listeners]) listener();
    },
  };
}

// What can be set about the sessions of a server.

export const sessionSettingsSchema = z.strictObject({
  idleMinutes: z
    .number()
    .min(1)
    .max(525_600)
    .default(1_440)
    .describe('A session that does nothing for so long is over.'),
  visibleFrom: z
    .enum(['next_request', 'next_turn'])
    .default('next_request')
    .describe('When clients put newly enabled tools before their model; told with what was enabled.'),
});

const MINUTE_MS = 60_000;

/** @throws WinnowError `invalid_option` naming each field that is wrong. */
export function parseSessionSettings(input: unknown): RouterOptions {
  const { idleMinutes, visibleFrom } = parseOptions(sessionSettingsSchema, input, 'sessions');
  return { sessionIdleMs: idleMinutes * MINUTE_MS, visibleFrom };
}
