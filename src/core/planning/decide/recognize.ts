/**
 * Recognizers-Text in a thread of its own. It takes a second to load, three to compile a language, and some texts of 2,000
 * characters hold it for longer. The thread is ended when one text takes too long; other requests go on meanwhile.
 */
import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import type { recognizeDateTime } from '@microsoft/recognizers-text-suite';
import { createOpening } from '../../kept.js';

/** What Recognizers-Text finds. */
export type ModelResult = ReturnType<typeof recognizeDateTime>[number];

export interface Recognized {
  readonly times: readonly ModelResult[];
  readonly numbers: readonly ModelResult[];
}

export interface RecognizeTask {
  readonly text: string;
  /** Language in which days and times are read, by the library's name, such as `en-us`. Default: none are. */
  readonly timeCulture: string | undefined;
  readonly numberCulture: string;
  readonly now: Date;
}

/** A message of 2,000 characters takes about a tenth of a second, on a busy machine ten times as long. */
const TEXT_TIMEOUT_MS = 20_000;

const NOTHING: Recognized = { times: [], numbers: [] };

/** Plain text, since a thread of compiled code would need a built file. */
const BOOTSTRAP = `
const { parentPort, workerData } = require('node:worker_threads');
const library = require(workerData);
const plain = (found) => found.map(({ text, start, end, typeName, resolution }) => ({ text, start, end, typeName, resolution }));
const read = ({ text, timeCulture, numberCulture, now }) => ({
  times: timeCulture === undefined ? [] : plain(library.recognizeDateTime(text, timeCulture, undefined, now)),
  numbers: plain(library.recognizeNumber(text, numberCulture)),
});
parentPort.on('message', (task) => {
  try {
    // The expressions of a language take seconds to compile, at their first use.
    read({ ...task, text: '2026-11-25 12:30, 5' });
    parentPort.postMessage('begun');
    parentPort.postMessage(read(task));
  } catch (error) {
    parentPort.postMessage({ reason: String(error) });
  }
});
parentPort.postMessage({ times: [], numbers: [] });
`;

interface Thread {
  recognize(task: RecognizeTask, limit: Limit): Promise<Recognized>;
}

interface Limit {
  /** Most time for one text, in milliseconds. Default: 20,000. */
  readonly timeoutMs?: number;
}

const thread = createOpening(startThread);

/** One text after the other. A text that takes longer says nothing. @throws Error of the library */
export async function recognize(task: RecognizeTask, limit: Limit = {}): Promise<Recognized> {
  return (await thread.get()).recognize(task, limit);
}

async function startThread(): Promise<Thread> {
  const library = createRequire(import.meta.url).resolve('@microsoft/recognizers-text-suite');
  const worker = new Worker(BOOTSTRAP, { eval: true, execArgv: [], workerData: library });
  // What breaks the thread ends it, and the end is heard.
  worker.on('error', () => undefined);
  const ready = await nextAnswer(worker);
  if (ready === undefined) throw new Error('The library for days and numbers can not be loaded.');
  // While nothing is read, the thread keeps no process alive.
  worker.unref();
  let isEnded = false;
  let last: Promise<unknown> = Promise.resolve();

  async function read(task: RecognizeTask, limit: Limit): Promise<Recognized> {
    if (isEnded) return recognize(task, limit);
    worker.ref();
    worker.postMessage(task);
    const answer = await nextAnswer(worker, limit.timeoutMs ?? TEXT_TIMEOUT_MS);
    worker.unref();
    if (answer?.reason !== undefined) throw new Error(`Days and numbers can not be read: ${answer.reason}`);
    if (answer) return answer;
    isEnded = true;
    thread.forget();
    await worker.terminate();
    return NOTHING;
  }

  return {
    recognize(task, limit) {
      const reading = last.then(() => read(task, limit));
      last = reading.catch(() => undefined);
      return reading;
    },
  };
}

type Answer = Recognized & { readonly reason?: string };

/** Undefined where the thread ended, or did not answer in that time after it had begun. */
function nextAnswer(worker: Worker, timeoutMs?: number): Promise<Answer | undefined> {
  return new Promise((resolve) => {
    let timer: NodeJS.Timeout | undefined;
    const done = (answer: Answer | undefined) => {
      clearTimeout(timer);
      for (const event of ['message', 'exit']) worker.removeAllListeners(event);
      resolve(answer);
    };
    worker.on('message', (message: Answer | 'begun') => {
      if (message !== 'begun') done(message);
      else timer = setTimeout(() => done(undefined), timeoutMs);
    });
    worker.on('exit', () => done(undefined));
  });
}
