/**
 * Sessions of stateless clients: the answer to the first search or enabling names one, and later requests name it again.
 * Only its owner can find it. A request that names none gets its own, which ends with the request unless the answer gives
 * a reason to return.
 */
import type { Caller, CreateSessionInput, SessionView } from '../../agents/contracts.js';
import type { AskOptions, Router } from '../../agents/router.js';
import { keepLatest } from '../../core/kept.js';
import { isNotFound } from './connection-session.js';

/** The owner of new sessions, and the caller whose roles the policy checks now. */
export interface Asker extends Pick<AskOptions, 'caller'> {
  readonly owner: CreateSessionInput;
}

/** The asker of a request over HTTP. */
export function askerOf(caller: Caller | undefined): Asker {
  const { user, roles = [] } = caller ?? {};
  return { caller, owner: { roles, ...(user === undefined ? {} : { user }) } };
}

export interface Named {
  /** The session that the client names. Default: one is opened. */
  readonly handle: string | undefined;
  /** An earlier part of this request opened it, for this request alone. Default: false. */
  readonly isOwn?: boolean | undefined;
  /** The client's turn. Default: a pause ends a turn. */
  readonly turn: string | undefined;
}

interface Outcome<T> {
  readonly value: T;
  /** The client has a reason to name the session again. */
  readonly isKept: boolean;
}

interface Handles {
  /**
   * @param unknown answers for a handle that is not the asker's, with the reason
   * @throws WinnowError, what the work throws
   */
  within<T>(asker: Asker, named: Named, work: Work<T>, unknown: (reason: string) => T): Promise<T>;
  /** Ends the sessions that were opened here. */
  end(): Promise<void>;
}

type Work<T> = (session: string) => Promise<Outcome<T>>;

interface HandleParts {
  router: Pick<Router, 'createSession' | 'session' | 'beginTurn' | 'endSession'>;
  turnPauseMs: number;
  /** Called with errors of background work. */
  onError: (error: unknown) => void;
  /** In milliseconds. Default: `Date.now`. */
  clock?: (() => number) | undefined;
}

/** The state of a handle. It is lost if another process serves the next request. */
interface HandleState {
  at: number;
  calls: number;
  turn: string | undefined;
  turning: Promise<unknown>;
  /** The owner. Undefined: another process opened the session. */
  openedFor?: string | undefined;
}

const MAX_USES = 10_000;
/** Most sessions of an owner that no client has named again; one more ends the oldest. */
const MAX_UNNAMED = 64;

export function createHandles({ router, turnPauseMs, onError, clock = Date.now }: HandleParts): Handles {
  const uses = new Map<string, HandleState>();
  /** Owner -> handles that no client has named again yet, oldest first. */
  const unnamed = new Map<string, Set<string>>();

  /** Undefined also for another's session, to hide that it exists. */
  async function find({ owner, caller }: Asker, handle: string): Promise<SessionView | undefined> {
    try {
      const view = await router.session(handle, { caller });
      return keyOf(view) === keyOf(owner) ? view : undefined;
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  async function followTurn({ id, activeAt }: SessionView, turn: string | undefined): Promise<HandleState> {
    const use = uses.get(id) ?? { at: Date.parse(activeAt), calls: 0, turn: undefined, turning: Promise.resolve() };
    const isPause = turnPauseMs > 0 && use.turn === undefined && use.calls === 0 && clock() - use.at >= turnPauseMs;
    const isNext = turn === undefined ? isPause : use.turn !== undefined && use.turn !== turn;
    use.at = clock();
    use.turn = turn ?? use.turn;
    // A session that has ended fails the call itself.
    if (isNext) use.turning = use.turning.then(() => router.beginTurn(id)).catch(onError);
    keepLatest(uses, [id, use], MAX_USES);
    await use.turning;
    return use;
  }

  async function keep(key: string, id: string): Promise<void> {
    const given = unnamed.get(key) ?? new Set();
    given.add(id);
    keepLatest(unnamed, [key, given], MAX_USES);
    const [oldest] = given;
    if (given.size > MAX_UNNAMED && oldest !== undefined) await end(key, oldest);
  }

  async function end(key: string, id: string): Promise<void> {
    forget(key, id);
    uses.delete(id);
    await router.endSession(id).catch((error: unknown) => {
      if (!isNotFound(error)) onError(error);
    });
  }

  function forget(key: string, id: string): void {
    const given = unnamed.get(key);
    given?.delete(id);
    if (given?.size === 0) unnamed.delete(key);
  }

  return {
    async within(asker, { handle, isOwn = false, turn }, work, unknown) {
      const key = keyOf(asker.owner);
      const view =
        handle === undefined
          ? await router.createSession(asker.owner, { isForOneRequest: true })
          : await find(asker, handle);
      if (!view) return unknown(`There is no session "${handle?.slice(0, 80)}".`);
      const { id } = view;
      if (handle !== undefined) forget(key, id);
      const use = await followTurn(view, turn);
      use.calls += 1;
      if (handle === undefined) use.openedFor = key;
      let isKept = handle !== undefined && !isOwn;
      try {
        const outcome = await work(id);
        isKept ||= outcome.isKept;
        return outcome.value;
      } finally {
        use.calls -= 1;
        use.at = clock();
        if (!isKept) await end(key, id);
        else if (handle === undefined || isOwn) await keep(key, id);
      }
    },

    async end() {
      const opened = [...uses].flatMap(([id, { openedFor }]) => (openedFor === undefined ? [] : [{ id, openedFor }]));
      await Promise.all(opened.map(({ id, openedFor }) => end(openedFor, id)));
    },
  };
}

/** With risk ceiling and project: a handle must not extend what its client may do. */
function keyOf({ user, project, riskCeiling }: Pick<CreateSessionInput, 'user' | 'project' | 'riskCeiling'>): string {
  return JSON.stringify([user ?? null, project ?? null, riskCeiling ?? null]);
}
