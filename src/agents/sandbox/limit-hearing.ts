/** Bounds what a tool says while it runs, in number, length and time: whoever hears it is not flooded, and the tool goes on. */
import { orAborted } from '../../core/errors.js';
import type { AskPerson, CallHearing, ServerAnswer } from '../hearing.js';

/** A tool that says more of its progress, or logs more, is heard, and goes on, but is not passed on. */
const MAX_MESSAGES = 1_000;
const MAX_MESSAGE_CHARACTERS = 1_000;
/** More questions of one call are dismissed. */
const MAX_QUESTIONS = 20;
/** A question that nobody answers for so long is dismissed. */
const MAX_THOUGHT_MS = 300_000;

interface Running {
  /** Gives the tool `timeoutMs` from now on. */
  prolong(): void;
  readonly timeoutMs: number;
}

export function limitHearing({ onProgress, onLog, onQuestion }: CallHearing, running: Running): CallHearing {
  return {
    onProgress: limitProgress(onProgress, running.prolong),
    onLog: onLog && limitLog(onLog),
    onQuestion: onQuestion && limitQuestions(onQuestion, running),
  };
}

function limitProgress(
  tell: CallHearing['onProgress'],
  prolong: Running['prolong'],
): NonNullable<CallHearing['onProgress']> {
  let left = MAX_MESSAGES;
  return ({ message, ...numbers }) => {
    prolong();
    if (left-- <= 0) return;
    tell?.({ ...numbers, ...(message === undefined ? {} : { message: message.slice(0, MAX_MESSAGE_CHARACTERS) }) });
  };
}

function limitLog(tell: NonNullable<CallHearing['onLog']>): NonNullable<CallHearing['onLog']> {
  let left = MAX_MESSAGES;
  return ({ level, logger, data }) => {
    if (left-- <= 0) return;
    const text = typeof data === 'string' ? data : (JSON.stringify(data) ?? '');
    const isShort = text.length <= MAX_MESSAGE_CHARACTERS;
    const shown = isShort ? data : `${text.slice(0, MAX_MESSAGE_CHARACTERS)}…`;
    tell({ level, data: shown, ...(logger === undefined ? {} : { logger: logger.slice(0, MAX_MESSAGE_CHARACTERS) }) });
  };
}

/** One after another. A person thinks longer than a tool may be silent: its call goes on meanwhile, within its time in all. */
function limitQuestions(ask: AskPerson, { prolong, timeoutMs }: Running): AskPerson {
  let left = MAX_QUESTIONS;
  let last: Promise<unknown> = Promise.resolve();
  return (question, signal) => {
    if (left-- <= 0) return Promise.resolve({ action: 'cancel' });
    const answer = last.then(async (): Promise<ServerAnswer> => {
      const tooLong = new AbortController();
      const patience = AbortSignal.any([signal, tooLong.signal]);
      const end = setTimeout(() => tooLong.abort(), MAX_THOUGHT_MS);
      const thinking = setInterval(prolong, timeoutMs / 2);
      try {
        return await orAborted(ask(question, patience), patience);
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
