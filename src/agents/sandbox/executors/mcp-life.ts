/**
 * The life of one MCP server that is called: started at the first call, started again after it died, stopped when
 * nobody calls. One that fails again and again is left alone for a while, and says so to whoever calls meanwhile.
 */
import type { Way } from '../../../core/catalog/sources/mcp-connection.js';
import { briefOf, McpFailure, type McpServer } from '../../../core/catalog/sources/mcp-server.js';
import { createServerTokens } from '../../../core/catalog/sources/mcp-tokens.js';
import { orAborted } from '../../../core/errors.js';
import { type CallFailure, describeThrown, fail } from '../failure.js';
import { type McpRefusal, type McpSession, openMcpSession } from './mcp-session.js';

/** So many starts in a row that led to no answer cost nothing; then there is a pause, and each is twice the one before. */
const FREE_STARTS = 3;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;

export interface McpLifeOptions {
  readonly connectTimeoutMs: number;
  /** Without a call for so long it is stopped. */
  readonly idleMs: number;
  readonly onLastWords?: ((facts: { server: string; stderr: string }) => void) | undefined;
  /** A clock in milliseconds. */
  readonly now: () => number;
}

type Reached = { ok: true; session: McpSession } | CallFailure;

interface Use {
  readonly signal: AbortSignal;
  /** Whether the work may be done a second time when the connection broke in the middle of the first. */
  readonly repeatable: boolean;
}

export interface McpLife {
  /**
   * Works on the connection, and starts the server where it does not run. What the server has not seen is done once
   * more on a new connection; what was lost on the way only if it may be repeated.
   */
  use<Answer extends { ok: true }>(
    use: Use,
    work: (session: McpSession) => Promise<Answer | McpRefusal>,
  ): Promise<Answer | CallFailure>;
  /** Why it gets no calls now, for anybody. Undefined: it runs, or would be started. */
  whyDown(): string | undefined;
  /** Whether it was started, or a start of it has failed. */
  isTried(): boolean;
  /** What it did, where its last start failed or it fails again and again. */
  failure(): string | undefined;
  close(): Promise<void>;
}

export function createMcpLife(name: string, server: McpServer, options: McpLifeOptions): McpLife {
  const { connectTimeoutMs, idleMs, onLastWords, now } = options;
  const tokens = createServerTokens(server);
  let opening: Promise<McpSession> | undefined;
  let way: Way | undefined;
  let trouble: { times: number; reason: string; until: number; isStart: boolean } | undefined;
  let isTried = false;
  let holders = 0;
  let stopping: NodeJS.Timeout | undefined;
  let isClosed = false;

  /** Not bound to the call that is first: when that one has no more time, the next finds the server started. */
  function open(): Promise<McpSession> {
    const mine = openMcpSession(server, { connectTimeoutMs, way, tokens });
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
        noteTrouble(briefOf(error), { isStart: true });
        if (error instanceof McpFailure && error.lastWords !== '')
          onLastWords?.({ server: name, stderr: error.lastWords });
      },
    );
    return mine;
  }

  function noteTrouble(reason: string, { isStart }: { isStart: boolean }): void {
    const times = (trouble?.times ?? 0) + 1;
    const pause = times <= FREE_STARTS ? 0 : FIRST_PAUSE_MS * 2 ** (times - FREE_STARTS - 1);
    trouble = { times, reason, isStart, until: now() + Math.min(pause, LONGEST_PAUSE_MS) };
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

  /** Of calls at once the first that fails tells why. @param why not known yet where the server has ended */
  async function drop(session: McpSession, why?: string): Promise<void> {
    const last = opening;
    if (last && (await last.catch(() => undefined)) === session && opening === last) {
      opening = undefined;
      const reason = session.isOpen() ? why : 'ended before it answered';
      if (reason !== undefined) noteTrouble(reason, { isStart: false });
    }
    await session.close();
  }

  /** Its connection may serve other calls, so it stays till the server is left alone. Calls at once are one failure. */
  async function noteSilence(session: McpSession, before: typeof trouble): Promise<void> {
    if (trouble !== before) return;
    noteTrouble('did not answer in time', { isStart: false });
    if (whyDown() !== undefined) await drop(session);
  }

  function whyDown(): string | undefined {
    const left = trouble ? trouble.until - now() : 0;
    if (!trouble || left <= 0) return undefined;
    const seconds = Math.ceil(left / 1_000);
    return `The MCP server "${name}" is down: it ${trouble.reason}. It may be started again in ${seconds} s`;
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

  /** Keeps it from being stopped. */
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
          const before = trouble;
          const answer = await work(reached.session);
          if (answer.ok || answer.kind === 'refused') trouble = undefined;
          else if (answer.kind !== 'unauthorized' && !signal.aborted) await drop(reached.session, whyLost(answer));
          else if (signal.reason?.name === 'TimeoutError') await noteSilence(reached.session, before);
          if (answer.ok) return answer;
          const isAgain = answer.kind === 'not_sent' || (answer.kind === 'lost' && repeatable);
          if (isSecond || !isAgain || signal.aborted) return toFailure(name, answer);
        }
      } finally {
        release();
      }
    },

    whyDown,
    isTried: () => isTried,
    failure: () => (trouble?.isStart || whyDown() !== undefined ? trouble?.reason : undefined),

    close() {
      isClosed = true;
      return stop();
    },
  };
}

/** In words of Winnow alone: all who ask why it is down hear them. */
function whyLost({ kind, status }: McpRefusal): string | undefined {
  if (kind !== 'lost') return undefined;
  return status === undefined ? 'broke off in the middle of a call' : `answered with HTTP ${status}`;
}

function toFailure(server: string, { kind, reason }: McpRefusal): CallFailure {
  const who = `The MCP server "${server}"`;
  switch (kind) {
    case 'not_sent':
      return fail('tool_unavailable', `${who} can't be reached: ${reason}`);
    case 'unauthorized':
      return fail('tool_unavailable', `${who} can't be used: ${reason}`);
    case 'lost':
      return fail('connection_lost', `${who} broke off in the middle of the call: ${reason}`);
    case 'refused':
      return fail('tool_failed', `${who} refused the call: ${reason}`);
  }
}
