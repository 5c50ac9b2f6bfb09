/**
 * Assigns a session to each thread and keeps it in the agent's state, and so in its checkpoints. A new user message begins a
 * turn, only once, however often the run is resumed.
 */
import { type BaseMessage, HumanMessage } from '@langchain/core/messages';
import { z } from 'zod';
import { type Caller, createSessionInputSchema } from '../../agents/contracts.js';
import type { AskOptions, Router } from '../../agents/router.js';
import { WinnowError } from '../../core/errors.js';
import { approverSchema } from './approval-interrupt.js';

export const routingContextSchema = z.object({
  winnow: createSessionInputSchema
    .partial()
    .extend({
      session: z
        .string()
        .min(1)
        .optional()
        .describe('An open session. Default: the one of the thread, else a new one.'),
      approver: approverSchema.optional().describe('Who has resumed the run with a decision; never the user.'),
    })
    .optional()
    .describe('Who the agent works for; the fields of a session. Approvals need a user.'),
});
export type RoutingContext = z.infer<typeof routingContextSchema>['winnow'];

/** Private to the middleware: LangChain keeps fields with an underscore out of inputs and outputs. */
export const routingStateSchema = z.object({
  _winnowThread: z.object({ session: z.string(), message: z.string().optional() }).optional(),
});
export type Thread = NonNullable<z.infer<typeof routingStateSchema>['_winnowThread']>;

interface ThreadRun {
  readonly messages: readonly BaseMessage[];
  /** The state after the thread's last run. */
  readonly known: Thread | undefined;
  readonly context: RoutingContext;
  readonly signal?: AbortSignal | undefined;
}

/** @throws WinnowError `not_found` if the context names an unknown session, `store_failed` */
export async function openThread(router: Router, { messages, known, context, signal }: ThreadRun): Promise<Thread> {
  const ask = askOf(context, signal);
  const message = lastTurn(messages)?.message.id;
  const session = context?.session ?? (known && (await isOpen(router, known.session, ask)) ? known.session : undefined);
  if (session === undefined) {
    const { session: _, approver: __, ...input } = context ?? {};
    // A new session begins with its first turn.
    return { session: (await router.createSession(input)).id, message };
  }
  const isNew = known?.session !== session || known.message !== message;
  if (isNew && message !== undefined) await router.beginTurn(session, ask);
  return { session, message: message ?? known?.message };
}

/** The caller of the router; without a user it is the embedding program, which is trusted. */
export function askOf(context: RoutingContext, signal: AbortSignal | undefined): AskOptions {
  const { user, roles } = context ?? {};
  const caller: Caller | undefined = user === undefined ? undefined : { user, ...(roles ? { roles } : {}) };
  return { caller, signal };
}

async function isOpen(router: Router, session: string, ask: AskOptions): Promise<boolean> {
  try {
    return (await router.session(session, ask)).endedAt === undefined;
  } catch (error) {
    // It was idle for too long, or the thread now works for another user.
    if (error instanceof WinnowError && error.code === 'not_found') return false;
    throw error;
  }
}

// A turn is one user message and all that it causes.

export interface Turn {
  /** The user message that began the turn. */
  readonly message: BaseMessage;
  readonly before: readonly BaseMessage[];
  readonly after: readonly BaseMessage[];
}

/** The last turn; undefined before the first user message. */
export function lastTurn(messages: readonly BaseMessage[]): Turn | undefined {
  const place = messages.findLastIndex((message) => HumanMessage.isInstance(message));
  const message = messages[place];
  return message && { message, before: messages.slice(0, place), after: messages.slice(place + 1) };
}
