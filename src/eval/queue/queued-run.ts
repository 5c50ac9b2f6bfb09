/** What lies in Redis, as schemas. Whatever comes out of Redis is parsed here before it is used. */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { optionsSchema } from '../../core/options.js';
import { evaluationCaseSchema } from '../case.js';
import type { CaseJob } from '../case-runner.js';
import { keyOf } from '../run-store.js';
import { differencesOf } from '../run-summary.js';

/** How the cases of a run are handed out; the same for all of its workers. */
export const paceSchema = z.object({
  rate: z
    .object({ cases: z.int().min(1), perMs: z.int().min(1) })
    .exactOptional()
    .describe('Most cases begun in a time, by all workers together. Default: no limit.'),
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
  format: z.literal(3),
  id: runIdSchema,
  name: z.string(),
  startedAt: z.iso.datetime({ offset: true }),
  /** With what a run is done. A worker must have the same, since answers depend on it. */
  identity: z.object({
    version: z.string().describe('Of Winnow.'),
    model: z.string().exactOptional().describe('Absent: that of the first worker.'),
    prompts: z.record(z.string(), z.string()).describe('Name -> hash.'),
  }),
  modelName: z
    .string()
    .exactOptional()
    .describe('In place of an id: any model that goes by it, and then that of the first worker.'),
  catalogs: z.record(z.string(), z.string()).describe('Suite -> fingerprint of its catalogue.'),
  options: optionsSchema.describe('Of the planners.'),
  judging: z.object({
    only: z.enum(['select', 'plan']).optional(),
    distractors: z.int().optional(),
    seed: z.int(),
    ignoreCase: z.boolean(),
    today: z.string(),
    maxTools: z.int(),
  }),
  cache: z.boolean().describe('Whether first tries may be answered from the cache of the worker.'),
  pace: paceSchema,
});
export type QueuedRun = z.output<typeof queuedRunSchema>;

/** A job holds a case and nothing else. */
export const caseJobSchema = z.object({ case: evaluationCaseSchema, repeat: z.int().min(0) });

/** The same for every process that goes on with the run: `startedAt` is kept in its summary. */
export function runIdOf(name: string, startedAt: string): string {
  return shortHash(JSON.stringify([name, startedAt])).slice(0, 16);
}

/** One job a case and repeat, however often it is added: this makes results idempotent. Case ids may hold anything. */
export function jobIdOf(job: CaseJob): string {
  return `c-${shortHash(keyOf(job.case.id, job.repeat))}`;
}

function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 22);
}

/** What a worker brings. */
export type WorkerIdentity = QueuedRun['identity'] & {
  model: string;
  /** What else the model is called. */
  modelName?: string | undefined;
  /** Fingerprints. */
  catalogs: ReadonlySet<string>;
};

/** Why a worker can't do a run; nothing where it can. A run without the id of a model takes several: see `RunRegistry.claim`. */
export function refusalsOf(run: QueuedRun, { catalogs, modelName, ...identity }: WorkerIdentity): string[] {
  const missing = Object.entries(run.catalogs).flatMap(([suite, fingerprint]) =>
    catalogs.has(fingerprint)
      ? []
      : [`catalogs.${suite}: no catalogue with the fingerprint ${fingerprint.slice(0, 16)} here`],
  );
  const { model, ...others } = identity;
  const own = run.identity.model === undefined ? others : identity;
  const wanted = run.modelName;
  const isOther = wanted !== undefined && wanted !== modelName && wanted !== model;
  const called = isOther ? differencesOf({ model: wanted }, { model }) : [];
  return [...differencesOf(run.identity, own), ...called, ...missing];
}
