/**
 * A run in a real Redis within the process of the test: the command's side and workers, with a runner of the test's. What
 * a test that fails leaves is given up after it.
 */
import { afterEach } from 'vitest';
import type { CaseJob, CaseRunner } from '../../../src/eval/case-runner.js';
import { openQueueCommand } from '../../../src/eval/queue/queue-command.js';
import { type QueueWorkerOptions, serveQueue } from '../../../src/eval/queue/queue-worker.js';
import { type QueuedRun, queuedRunSchema } from '../../../src/eval/queue/queued-run.js';
import type { CaseRecord } from '../../../src/eval/record.js';
import { aCase, anError, aRecord } from '../setup.js';

export const IDENTITY = { version: '1.0.0', model: 'm', prompts: { 'select-tools': 'abc' } };
export const FINGERPRINT = 'f'.repeat(64);

export function aRun(more: Partial<QueuedRun> = {}): QueuedRun {
  return queuedRunSchema.parse({
    format: 4,
    id: `run-${Math.random().toString(36).slice(2)}`,
    name: 'the run',
    startedAt: '2026-11-22T08:00:00.000Z',
    identity: IDENTITY,
    catalogs: { set: FINGERPRINT },
    options: {},
    judging: {
      seed: 1,
      today: '2026-11-22',
      maxTools: 8,
    },
    cache: false,
    pace: { backoffMs: 1, lostAfterMs: 1_000 },
    ...more,
  });
}

export async function* jobs(
  count: number,
  onTaken: (place: number) => void = () => undefined,
): AsyncGenerator<CaseJob> {
  for (let place = 0; place < count; place++) {
    onTaken(place);
    yield { case: aCase({ id: `c${place}` }), repeat: 0 };
  }
}

/** Answers every case. */
export const answers: CaseRunner = async ({ case: one, repeat }) => aRecord({ id: one.id, repeat });
export const fails: CaseRunner = async ({ case: one, repeat }) => anError(one.id, repeat);

const begun = new Set<{ cancel: AbortController; ended: Promise<void> }>();
afterEach(async () => {
  for (const { cancel } of begun) cancel.abort();
  await Promise.allSettled([...begun].map(({ ended }) => ended));
  begun.clear();
});

export interface WorkerOptions extends Partial<QueueWorkerOptions> {
  run?: CaseRunner;
}

export function beginWorker(url: string, { run = answers, ...more }: WorkerOptions = {}) {
  const stop = new AbortController();
  const cancel = new AbortController();
  const notices: string[] = [];
  const ended = serveQueue({
    url,
    name: 'worker',
    identity: { ...IDENTITY, catalogs: new Set([FINGERPRINT]) },
    createRunner: () => run,
    concurrency: 2,
    stop: stop.signal,
    cancel: cancel.signal,
    onNotice: (text) => notices.push(text),
    ...more,
  });
  const end = async () => {
    stop.abort();
    await ended;
  };
  begun.add({ cancel, ended });
  return { notices, stop, cancel, ended, end };
}

export interface CommandOptions {
  source?: AsyncIterable<CaseJob>;
  window?: number;
  quietMs?: number;
  run?: QueuedRun;
  onRecord?: (record: CaseRecord) => void | Promise<void>;
  beforeKeep?: () => Promise<void>;
  onNotice?: (text: string) => void;
}

/** The command's side. Its records and prompts are those that it was told of. */
export function beginCommand(url: string, options: CommandOptions = {}) {
  const stop = new AbortController();
  const cancel = new AbortController();
  const records: CaseRecord[] = [];
  const notices: string[] = [];
  const prompts = new Map<string, string>();
  const { source = jobs(5), window = 50, run = aRun(), quietMs = 10_000, onRecord } = options;
  const begin = async () => {
    const command = await openQueueCommand({
      url,
      run,
      onNotice: (text) => {
        notices.push(text);
        options.onNotice?.(text);
      },
    });
    try {
      const onStablePart = (hash: string, text: string) => prompts.set(hash, text);
      await command.dispatcher({ window, quietMs, onStablePart })(source, {
        keep: async (kept) => {
          await options.beforeKeep?.();
          for (const record of kept) {
            await onRecord?.(record);
            records.push(record);
          }
        },
        stop: stop.signal,
        cancel: cancel.signal,
      });
    } finally {
      command.close();
    }
  };
  const ended = begin();
  begun.add({ cancel, ended });
  return { records, notices, prompts, stop, cancel, ended, run };
}
