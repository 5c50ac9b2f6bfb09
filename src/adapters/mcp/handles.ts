/**
 * Sessions of clients whose requests stand by themselves: the answer to the first search or enabling names one, and later
 * requests name it again. It belongs to its owner: to all others it looks like none. A request that names none gets one
 * for itself, which ends with it unless the answer gives a reason to come again.
 */
import type { Caller, CreateSessionInput, SessionView } from '../../agents/contracts.js';
import type { AskOptions, Router } from '../../agents/router.js';
import { keepLatest } from '../../core/kept.js';
import { isNotFound } from './connection-session.js';

/** Who asks: in whose name sessions are opened, and with which roles the policy decides now. */
export interface Asker extends Pick<AskOptions, 'caller'> {
  readonly owner: CreateSessionInput;
}

/** In whose name a request over HTTP is made. */
export function askerOf(caller: Caller | undefined): Asker {
  const { user, roles = [] } = caller ?? {};
  return { caller, owner: { roles, ...(user === undefined ? {} : { user }) } };
}

export interface Named {
  /** The session that the client names. Default: one is opened. */
  readonly handle: string | undefined;
  /** It was opened for an earlier part of this request alone, as if this one had opened it. Default: false. */
  readonly isOwn?: boolean | undefined;
  /** The turn of the client in which it asks. Default: a pause ends a turn. */
  readonly turn: string | undefined;
}

export interface Outcome<T> {
  readonly value: T;
  /** The client has a reason to name the session again. */
  readonly isKept: boolean;
}

export interface Handles {
  /**
   * @param unknown told why a handle is none of this asker
   * @throws WinnowError, what the work throws
   */
  within<T>(asker: Asker, named: Named, work: Work<T>, unknown: (reason: string) => T): Promise<T>;
  /** Ends the sessions that were opened here. */
  end(): Promise<void>;
}

type Work<T> = (session: string) => Promise<Outcome<T>>;

export interface HandleParts {
  router: Pick<Router, 'createSession' | 'session' | 'beginTurn' | 'endSession'>;
  turnPauseMs: number;
  /** Told of what fails while nobody waits for it. */
  onError: (error: unknown) => void;
  /** In milliseconds. Default: that of the machine. */
  clock?: (() => number) | undefined;
}

/** What is known of a handle; another process may serve the next request, and then begins anew. */
interface Use {
  at: number;
  calls: number;
  turn: string | undefined;
  turning: Promise<unknown>;
  /** Whose session was opened here. Undefined: another process has opened it. */
  openedFor?: string | undefined;
}

const MOST_USES = 10_000;
/** Sessions that were opened for an owner whose clients never came back to them; one more ends the oldest. */
const MOST_UNNAMED = 64;

export function createHandles({ router, turnPauseMs, onError, clock = Date.now }: HandleParts): Handles {
  const uses = new Map<string, Use>();
  /** Owner -> handles that were given and not named yet, oldest first. */
  const unnamed = new Map<string, Set<string>>();

  /** Undefined for a session of others, too: nobody learns that it exists. */
  async function find({ owner, caller }: Asker, handle: string): Promise<SessionView | undefined> {
    try {
      const view = await router.session(handle, { caller });
      return keyOf(view) === keyOf(owner) ? view : undefined;
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  async function followTurn({ id, activeAt }: SessionView, turn: string | undefined): Promise<Use> {
    const use = uses.get(id) ?? { at: Date.parse(activeAt), calls: 0, turn: undefined, turning: Promise.resolve() };
    const isPause = turnPauseMs > 0 && use.turn === undefined && use.calls === 0 && clock() - use.at >= turnPauseMs;
    const isNext = turn === undefined ? isPause : use.turn !== undefined && use.turn !== turn;
    use.at = clock();
    use.turn = turn ?? use.turn;
    // A session that has ended says so itself, to the call.
    if (isNext) use.turning = use.turning.then(() => router.beginTurn(id)).catch(onError);
    keepLatest(uses, [id, use], MOST_USES);
    await use.turning;
    return use;
  }

  async function keep(key: string, id: string): Promise<void> {
    const given = unnamed.get(key) ?? new Set();
    given.add(id);
    keepLatest(unnamed, [key, given], MOST_USES);
    const [oldest] = given;
    if (given.size > MOST_UNNAMED && oldest !== undefined) await end(key, oldest);
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

/** A session with another ceiling or project is another's, too: its handle must not reach further than its client. */
function keyOf({ user, project, riskCeiling }: Pick<CreateSessionInput, 'user' | 'project' | 'riskCeiling'>): string {
  return JSON.stringify([user ?? null, project ?? null, riskCeiling ?? null]);
}
