/**
 * The life cycle of one MCP server: started at the first call, restarted after a crash, stopped when idle. After
 * repeated failures there are pauses without restarts (exponential backoff), in which calls fail with that reason.
 */
import type { Way } from '../../../core/catalog/sources/mcp-connection.js';
import { briefOf, McpFailure, type McpServer, type ServerTokens } from '../../../core/catalog/sources/mcp-server.js';
import { createServerTokens } from '../../../core/catalog/sources/mcp-tokens.js';
import { orAborted } from '../../../core/errors.js';
import { type CallFailure, describeThrown, fail } from '../failure.js';
import { type McpRefusal, type McpSession, openMcpSession } from './mcp-session.js';

/** Failures in a row without a pause; further ones double it. */
const FAILURES_WITHOUT_PAUSE = 3;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;

export interface McpLifecycleOptions {
  readonly connectTimeoutMs: number;
  /** Time without a call after which the server is stopped. */
  readonly idleMs: number;
  readonly onLastWords?: ((facts: { server: string; stderr: string }) => void) | undefined;
  /** A clock in milliseconds. */
  readonly now: () => number;
  /** Of the one user of the connection. Default: those for the server's client credentials. */
  readonly tokens?: ServerTokens | undefined;
}

type Reached = { ok: true; session: McpSession } | CallFailure;

interface Use {
  readonly signal: AbortSignal;
  /** Whether the work may be repeated if the connection breaks during it, or on the server's word that it has not run. */
  readonly repeatable: boolean;
  readonly user?: string | undefined;
}

export interface McpLifecycle {
  /**
   * Runs `work` on the connection, and starts the server if necessary. Repeats it once on a new connection if the
   * server has not received it, or if the connection broke and the work is repeatable. Failures are passed on.
   */
  use<Answer extends { ok: true }>(
    use: Use,
    work: (session: McpSession) => Promise<Answer | McpRefusal | CallFailure>,
  ): Promise<Answer | CallFailure>;
  /** Why it gets no calls now. Undefined: it runs, or would be started. */
  whyDown(): string | undefined;
  /** Whether a start has succeeded or failed. */
  isTried(): boolean;
  /** Description of the failure, if the last start failed or calls fail repeatedly. */
  failure(): string | undefined;
  close(): Promise<void>;
}

export function createMcpLifecycle(name: string, server: McpServer, options: McpLifecycleOptions): McpLifecycle {
  const { connectTimeoutMs, idleMs, onLastWords, now, tokens = createServerTokens(server) } = options;
  let opening: Promise<McpSession> | undefined;
  let way: Way | undefined;
  let lastFailure: { times: number; reason: string; until: number; isStart: boolean } | undefined;
  let isTried = false;
  let holders = 0;
  let stopping: NodeJS.Timeout | undefined;
  let isClosed = false;

  /** Independent of the first call: if that one times out, the next finds the server started. */
  function open(): Promise<McpSession> {
    const onFlood = (reason: string) => {
      // It would do so again: the longest pause at once. The calls that this ends are no further failures.
      if (opening === mine) opening = undefined;
      noteFailure(reason, { isStart: false, atLeastMs: LONGEST_PAUSE_MS });
    };
    const mine = openMcpSession(server, { connectTimeoutMs, way, tokens, onFlood });
    opening = mine;
    mine.then(
      (session) => {
        way = session.way;
        isTried = true;
      },
      (error: unknown) => {
        if (opening === mine) opening = undefined;
        way = undefined;
        isTried = true;
        noteFailure(briefOf(error), { isStart: true });
        if (error instanceof McpFailure && error.lastWords !== '')
          onLastWords?.({ server: name, stderr: error.lastWords });
      },
    );
    return mine;
  }

  function noteFailure(reason: string, { isStart, atLeastMs = 0 }: { isStart: boolean; atLeastMs?: number }): void {
    const times = (lastFailure?.times ?? 0) + 1;
    const pause = times <= FAILURES_WITHOUT_PAUSE ? 0 : FIRST_PAUSE_MS * 2 ** (times - FAILURES_WITHOUT_PAUSE - 1);
    const ends = now() + Math.min(Math.max(pause, atLeastMs), LONGEST_PAUSE_MS);
    lastFailure = { times, reason, isStart, until: Math.max(ends, lastFailure?.until ?? 0) };
  }

  async function stop(): Promise<void> {
    clearTimeout(stopping);
    const last = opening;
    opening = undefined;
    await last?.then(
      (session) => session.close(),
      () => undefined,
    );
  }

  async function current(signal: AbortSignal): Promise<McpSession | undefined> {
    const session = opening && (await orAborted(opening, signal));
    if (!session || session.isOpen()) return session;
    await drop(session);
    return undefined;
  }

  /** Of concurrent calls, the first failure gives the reason. @param why unknown yet where the server has ended */
  async function drop(session: McpSession, why?: string): Promise<void> {
    const last = opening;
    if (last && (await last.catch(() => undefined)) === session && opening === last) {
      opening = undefined;
      const reason = session.isOpen() ? why : 'ended before it answered';
      if (reason !== undefined) noteFailure(reason, { isStart: false });
    }
    await session.close();
  }

  /** Keeps the connection until a pause, since it may serve other calls. Concurrent calls count as one failure. */
  async function noteSilence(session: McpSession, before: typeof lastFailure): Promise<void> {
    if (lastFailure !== before) return;
    noteFailure('did not answer in time', { isStart: false });
    if (whyDown() !== undefined) await drop(session);
  }

  function whyDown(): string | undefined {
    const left = lastFailure ? lastFailure.until - now() : 0;
    if (!lastFailure || left <= 0) return undefined;
    const seconds = Math.ceil(left / 1_000);
    return `The MCP server "${name}" is down: it ${lastFailure.reason}. It may be started again in ${seconds} s`;
  }

  async function reach(signal: AbortSignal): Promise<Reached> {
    try {
      const running = isClosed ? undefined : await current(signal);
      if (isClosed) return fail('tool_unavailable', 'The executor of MCP tools is closed.');
      if (running) return { ok: true, session: running };
      const why = opening ? undefined : whyDown();
      if (why !== undefined) return fail('tool_unavailable', `${why}.`);
      return { ok: true, session: await orAborted(opening ?? open(), signal) };
    } catch (error) {
      if (signal.aborted) return fail('cancelled', `The MCP server "${name}" was still starting.`);
      return fail('tool_unavailable', `The MCP server "${name}" ${describeThrown(error)}.`);
    }
  }

  /** Prevents the idle stop. */
  function hold(): void {
    holders += 1;
    clearTimeout(stopping);
  }

  function release(): void {
    holders -= 1;
    if (holders === 0 && !isClosed) stopping = setTimeout(() => void stop(), idleMs).unref();
  }

  return {
    async use({ signal, repeatable }, work) {
      hold();
      try {
        for (let isSecond = false; ; isSecond = true) {
          const reached = await reach(signal);
          if (!reached.ok) return reached;
          const before = lastFailure;
          const answer = await work(reached.session);
          if ('code' in answer) return answer;
          const mayHaveRun = !repeatable && !answer.ok && answer.isAnswered === true;
          if (answer.ok || answer.kind === 'refused') lastFailure = undefined;
          else if (answer.kind !== 'unauthorized' && !signal.aborted) await drop(reached.session, whyLost(answer));
          else if (signal.reason?.name === 'TimeoutError') await noteSilence(reached.session, before);
          if (answer.ok) return answer;
          const isAgain = (answer.kind === 'not_sent' && !mayHaveRun) || (answer.kind === 'lost' && repeatable);
          if (isSecond || !isAgain || signal.aborted) return toFailure(name, answer, mayHaveRun);
        }
      } finally {
        release();
      }
    },

    whyDown,
    isTried: () => isTried,
    failure: () => (lastFailure?.isStart || whyDown() !== undefined ? lastFailure?.reason : undefined),

    close() {
      isClosed = true;
      return stop();
    },
  };
}

/** In Winnow's own words only, since all callers see the reason. */
function whyLost({ kind, status }: McpRefusal): string | undefined {
  if (kind !== 'lost') return undefined;
  return status === undefined ? 'broke off in the middle of a call' : `answered with HTTP ${status}`;
}

function toFailure(server: string, { kind, reason }: McpRefusal, mayHaveRun: boolean): CallFailure {
  const who = `The MCP server "${server}"`;
  const unavailable = mayHaveRun ? 'connection_lost' : 'tool_unavailable';
  switch (kind) {
    case 'not_sent':
      return fail(unavailable, `${who} can't be reached: ${reason}`);
    case 'unauthorized':
      return fail(unavailable, `${who} can't be used: ${reason}`);
    case 'lost':
      return fail('connection_lost', `${who} broke off in the middle of the call: ${reason}`);
    case 'refused':
      return fail('tool_failed', `${who} refused the call: ${reason}`);
  }
}
