/** Limits the messages and questions of a running tool in number, length and time. The tool itself goes on. */
import { orAborted } from '../../core/errors.js';
import type { Progress } from '../contracts.js';
import type { AskPerson, CallListeners, ServerAnswer } from '../hearing.js';

/** Further progress reports and log messages are not passed on, but for the last report; progress still prolongs. */
const MAX_MESSAGES = 1_000;
/** Of more progress reports, the latest is passed on at the end of the second. */
const MAX_REPORTS_A_SECOND = 10;
const MAX_MESSAGE_CHARACTERS = 1_000;
/** Further questions of a call are dismissed. */
const MAX_QUESTIONS = 20;
/** A question without an answer for this long is dismissed. */
const MAX_ANSWER_MS = 300_000;

interface Running {
  /** Gives the tool `timeoutMs` from now on. */
  prolong(): void;
  readonly timeoutMs: number;
}

interface Limited {
  within(running: Running): CallListeners;
  /** Passes the last progress report on, and no further one. */
  end(): void;
}

export function limitListeners({ onProgress, onLog, onQuestion }: CallListeners): Limited {
  const { report, end } = limitProgress(onProgress);
  return {
    within: (running) => ({
      onProgress(progress) {
        running.prolong();
        report(progress);
      },
      onLog: onLog && limitLog(onLog),
      onQuestion: onQuestion && limitQuestions(onQuestion, running),
    }),
    end,
  };
}

function limitProgress(emit: CallListeners['onProgress']) {
  let left = MAX_MESSAGES;
  let inSecond = 0;
  let last: Progress | undefined;
  let second: NodeJS.Timeout | undefined;
  function emitLast(): void {
    if (!last) return;
    const { message, ...numbers } = last;
    last = undefined;
    emit?.({ ...numbers, ...(message === undefined ? {} : { message: message.slice(0, MAX_MESSAGE_CHARACTERS) }) });
  }
  function emitInTime(): void {
    if (!last || left === 0 || inSecond === MAX_REPORTS_A_SECOND) return;
    left -= 1;
    inSecond += 1;
    second ??= setTimeout(() => {
      second = undefined;
      inSecond = 0;
      emitInTime();
    }, 1_000);
    emitLast();
  }
  return {
    report(progress: Progress): void {
      last = progress;
      emitInTime();
    },
    end(): void {
      clearTimeout(second);
      emitLast();
      left = 0;
    },
  };
}

function limitLog(emit: NonNullable<CallListeners['onLog']>): NonNullable<CallListeners['onLog']> {
  let left = MAX_MESSAGES;
  return ({ level, logger, data }) => {
    if (left-- <= 0) return;
    const text = typeof data === 'string' ? data : (JSON.stringify(data) ?? '');
    const isShort = text.length <= MAX_MESSAGE_CHARACTERS;
    const shown = isShort ? data : `${text.slice(0, MAX_MESSAGE_CHARACTERS)}…`;
    emit({ level, data: shown, ...(logger === undefined ? {} : { logger: logger.slice(0, MAX_MESSAGE_CHARACTERS) }) });
  };
}

/** Asks one at a time. While a person thinks, the call is prolonged, within its total time. */
function limitQuestions(ask: AskPerson, { prolong, timeoutMs }: Running): AskPerson {
  let left = MAX_QUESTIONS;
  let last: Promise<unknown> = Promise.resolve();
  return (question, signal) => {
    if (left-- <= 0) return Promise.resolve({ action: 'cancel' });
    const answer = last.then(async (): Promise<ServerAnswer> => {
      const tooLong = new AbortController();
      const deadline = AbortSignal.any([signal, tooLong.signal]);
      const end = setTimeout(() => tooLong.abort(), MAX_ANSWER_MS);
      const thinking = setInterval(prolong, timeoutMs / 2);
      try {
        return await orAborted(ask(question, deadline), deadline);
      } catch {
        return { action: 'cancel' };
      } finally {
        clearTimeout(end);
        clearInterval(thinking);
        prolong();
      }
    });
    last = answer;
    return answer;
  };
}
