/**
 * The router session of one connection: opened at the first request, reopened after its removal for being idle, ended
 * with the connection. A pause or the client ends a turn. Callable tools change then, and with policy and catalogue.
 */

import type { CreateSessionInput } from '../../agents/contracts.js';
import type { Router } from '../../agents/router.js';
import { WinnowError } from '../../core/errors.js';
import { createOpening } from '../../core/kept.js';

interface ConnectionSessionParts {
  router: Pick<Router, 'createSession' | 'session' | 'beginTurn' | 'endSession' | 'fingerprint' | 'onToolsChange'>;
  owner: CreateSessionInput;
  turnPauseMs: number;
  /** Called when the callable tools have changed between requests. */
  onChange: () => void;
  /** Called with errors of background work. */
  onError: (error: unknown) => void;
}

interface ConnectionSession {
  /** @throws WinnowError, what the work throws */
  run<T>(work: (id: string) => Promise<T>, about?: { isCall?: boolean; turn?: string | undefined }): Promise<T>;
  /** Whether the callable tools have changed since the last check. */
  hasChanged(): Promise<boolean>;
  /** Resolves when the work that runs now has ended. */
  idle(): Promise<void>;
  end(): Promise<void>;
}

/** Time limit for cancelled work to end, in milliseconds; a session does not stay open for longer. */
const END_TIMEOUT_MS = 2_000;

/** For cancelled work: waits for it, up to a time limit. */
export async function untilIdle(idle: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, END_TIMEOUT_MS);
  });
  await Promise.race([idle, limit]);
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
  let stopListening: (() => void) | undefined;

  /** Not before the first request: until then the client has no list that could be outdated. */
  function listen(): void {
    stopListening ??= router.onToolsChange(() => {
      if (!isOver) void track(inSession(notifyIfChanged)).catch(onError);
    });
  }

  async function open(): Promise<string> {
    listen();
    const view = await router.createSession(owner);
    // After reopening, the client still shows the tools of the earlier session.
    // A failure costs one needless notification, so the client is not refused.
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
      // Of concurrent calls one opens the new session.
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

  /** The first turn that the client names is the first of the session. */
  function followTurn(turn: string): Promise<unknown> {
    if (clientTurn !== undefined && clientTurn !== turn)
      // A session that has ended fails the call itself.
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
    await notifyIfChanged();
  }

  async function hasChanged(): Promise<boolean> {
    const before = known;
    known = await router.fingerprint(await current());
    return known !== before;
  }

  async function notifyIfChanged(): Promise<void> {
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
      stopListening?.();
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
