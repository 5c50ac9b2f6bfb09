/** Schemas of the data in Redis; everything read from Redis is parsed with them before use. */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { optionsSchema } from '../../core/options.js';
import { evaluationCaseSchema } from '../case.js';
import type { CaseJob } from '../case-runner.js';
import { caseRecordSchema } from '../record.js';
import { keyOf } from '../run-store.js';
import { differencesOf } from '../run-summary.js';

/** Retries of a run, the same for all its workers. */
export const paceSchema = z.object({
  attempts: z.int().min(1).default(3).describe('Tries of a case whose model server fails.'),
  backoffMs: z.int().min(1).default(1_000).describe('Before the second try; doubled for each further one.'),
  lostAfterMs: z
    .int()
    .min(1_000)
    .default(30_000)
    .describe('A worker that is silent for so long is lost: its cases go to others.'),
});

export const runIdSchema = z.string().regex(/^[\w-]+$/u);

export const queuedRunSchema = z.object({
  format: z.literal(4),
  id: runIdSchema,
  name: z.string(),
  startedAt: z.iso.datetime({ offset: true }),
  /** Version, model and prompts of the run, which each worker must share, since answers depend on them. */
  identity: z.object({
    version: z.string().describe('Of Winnow.'),
    model: z.string().describe('Its id, or its name in the local store.'),
    prompts: z.record(z.string(), z.string()).describe('Name -> hash.'),
  }),
  catalogs: z.record(z.string(), z.string()).describe('Suite -> fingerprint of its catalogue.'),
  options: optionsSchema.describe('Of the planners.'),
  judging: z.object({
    only: z.enum(['select', 'plan']).optional(),
    distractors: z.int().optional(),
    seed: z.int(),
    today: z.string(),
    maxTools: z.int(),
  }),
  cache: z.boolean().describe('Whether first tries may be answered from the cache of the worker.'),
  pace: paceSchema,
});
export type QueuedRun = z.output<typeof queuedRunSchema>;

/** What a worker returns: the record, and the stable parts of prompts that it has not sent before. */
export const caseResultSchema = z.object({ record: caseRecordSchema, prompts: z.record(z.string(), z.string()) });
export type CaseResult = z.output<typeof caseResultSchema>;

/** A job holds a case and nothing else. */
export const caseJobSchema = z.object({ case: evaluationCaseSchema, repeat: z.int().min(0) });

/** The same after a resume, since the summary keeps `startedAt`. */
export function runIdOf(name: string, startedAt: string): string {
  return shortHash(JSON.stringify([name, startedAt])).slice(0, 16);
}

/** One id for each case and repeat, which makes adding idempotent. It is hashed, since case ids may hold any characters. */
export function jobIdOf(job: CaseJob): string {
  return `c-${shortHash(keyOf(job.case.id, job.repeat))}`;
}

function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 22);
}

/** What a worker has. */
export type WorkerIdentity = QueuedRun['identity'] & {
  /** Its name in the local store. */
  modelName?: string | undefined;
  /** Fingerprints of its catalogues. */
  catalogs: ReadonlySet<string>;
};

/** Reasons why a worker can't do a run, or none. */
export function refusalsOf(run: QueuedRun, { catalogs, modelName, ...identity }: WorkerIdentity): string[] {
  const missing = Object.entries(run.catalogs).flatMap(([suite, fingerprint]) =>
    catalogs.has(fingerprint)
      ? []
      : [`catalogs.${suite}: no catalogue with the fingerprint ${fingerprint.slice(0, 16)} here`],
  );
  const own = modelName === run.identity.model ? { ...identity, model: modelName } : identity;
  return [...differencesOf(run.identity, own), ...missing];
}
