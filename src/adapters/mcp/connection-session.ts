/**
 * The router session of one connection: opened at the first request, opened anew when it was removed for being idle,
 * ended with the connection. Its turns end by a pause, or where the client says so. What it may call can change in both,
 * and by policy and catalogue while nothing is asked.
 */

import type { CreateSessionInput } from '../../agents/contracts.js';
import type { Router } from '../../agents/router.js';
import { WinnowError } from '../../core/errors.js';
import { createOpening } from '../../core/kept.js';

export interface ConnectionSessionParts {
  router: Pick<Router, 'createSession' | 'session' | 'beginTurn' | 'endSession' | 'fingerprint' | 'onToolsChange'>;
  owner: CreateSessionInput;
  turnPauseMs: number;
  /** What the session may call has changed while nothing was asked. */
  onChange: () => void;
  /** Told of what fails while nobody waits for it. */
  onError: (error: unknown) => void;
}

export interface ConnectionSession {
  /** @throws WinnowError, what the work throws */
  run<T>(work: (id: string) => Promise<T>, about?: { isCall?: boolean; turn?: string | undefined }): Promise<T>;
  /** Whether what the session may call is another than at the last look. */
  hasChanged(): Promise<boolean>;
  /** Resolves when what runs now has ended. */
  idle(): Promise<void>;
  end(): Promise<void>;
}

/** Work that was cancelled gets so long to end, in milliseconds; a session does not stay open for what can't be stopped. */
const END_PATIENCE_MS = 2_000;

/** For work that was cancelled. */
export async function untilIdle(idle: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const patience = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, END_PATIENCE_MS);
  });
  await Promise.race([idle, patience]);
  clearTimeout(timer);
}

export function createConnectionSession(parts: ConnectionSessionParts): ConnectionSession {
  const { router, owner, turnPauseMs, onChange, onError } = parts;
  const running = new Set<Promise<unknown>>();
  let calls = 0;
  const opening = createOpening(open);
  let openId: string | undefined;
  let known: string | undefined;
  let clientTurn: string | undefined;
  let turning: Promise<unknown> = Promise.resolve();
  let pause: NodeJS.Timeout | undefined;
  let isOver = false;
  let forgetChanges: (() => void) | undefined;

  /** Not before the first request: the client has seen no list yet that could be old, and may never come to ask. */
  function listen(): void {
    forgetChanges ??= router.onToolsChange(() => {
      if (!isOver) void track(inSession(tellChange)).catch(onError);
    });
  }

  async function open(): Promise<string> {
    listen();
    const view = await router.createSession(owner);
    // Of a session that is opened anew the client still shows the tools of the one before.
    // Without it the client is told of a change once too often: no reason to turn it away.
    known ??= await router.fingerprint(view.id).catch(onUnknown);
    openId = view.id;
    return view.id;
  }

  function onUnknown(error: unknown): undefined {
    onError(error);
  }

  async function current(): Promise<string> {
    if (isOver && !opening.peek()) throw new WinnowError('cancelled', 'The client has left.');
    return opening.get();
  }

  async function inSession<T>(work: (id: string) => Promise<T>): Promise<T> {
    const id = await current();
    try {
      return await work(id);
    } catch (error) {
      if (!isNotFound(error) || !(await isGone(id))) throw error;
      // Of calls that find out at the same moment one opens the new session.
      if (openId === id) opening.forget();
      return work(await current());
    }
  }

  async function isGone(id: string): Promise<boolean> {
    try {
      await router.session(id);
      return false;
    } catch (error) {
      return isNotFound(error);
    }
  }

  /** The first name of a turn is that of the turn which the session has begun with. */
  function followTurn(turn: string): Promise<unknown> {
    if (clientTurn !== undefined && clientTurn !== turn)
      // A session that has ended says so itself, to the call.
      turning = turning.then(() => inSession((id) => router.beginTurn(id))).catch(onError);
    clientTurn = turn;
    return turning;
  }

  function startPause(): void {
    clearTimeout(pause);
    if (isOver || turnPauseMs === 0 || clientTurn !== undefined || calls > 0) return;
    pause = setTimeout(() => void track(endTurn()).catch(onError), turnPauseMs).unref();
  }

  async function endTurn(): Promise<void> {
    await router.beginTurn(await current());
    await tellChange();
  }

  async function hasChanged(): Promise<boolean> {
    const before = known;
    known = await router.fingerprint(await current());
    return known !== before;
  }

  async function tellChange(): Promise<void> {
    if (await hasChanged()) onChange();
  }

  function track<T>(work: Promise<T>): Promise<T> {
    running.add(work);
    return work.finally(() => running.delete(work));
  }

  async function idle(): Promise<void> {
    await Promise.allSettled(running);
  }

  return {
    hasChanged,
    idle,

    async run(work, { isCall = false, turn } = {}) {
      if (isCall) {
        calls += 1;
        clearTimeout(pause);
      }
      try {
        return await track((turn === undefined ? turning : followTurn(turn)).then(() => inSession(work)));
      } finally {
        if (isCall) {
          calls -= 1;
          startPause();
        }
      }
    },

    async end() {
      isOver = true;
      forgetChanges?.();
      clearTimeout(pause);
      await untilIdle(idle());
      const id = await opening.peek()?.catch(() => undefined);
      opening.forget();
      if (id !== undefined) await router.endSession(id).catch(onError);
    },
  };
}

export function isNotFound(error: unknown): boolean {
  return error instanceof WinnowError && error.code === 'not_found';
}
