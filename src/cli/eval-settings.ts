/** Settings of a run: kept in its summary, and compared when it is resumed. */
import { basename } from 'node:path';
import type { Judging } from '../eval/case-runner.js';
import type { Dispatcher } from '../eval/evaluate.js';
import { hasRun, withRun } from '../eval/run-store.js';
import {
  dayOf,
  hashesOfSets,
  type RunStart,
  type RunSummary,
  refuseOtherSettings,
  type Settings,
  toSettings,
} from '../eval/run-summary.js';
import type { OnStablePart } from '../eval/suite.js';
import type { EvaluationSetup } from './eval-setup.js';
import { checkOut } from './out-folder.js';

/** Runs cases: in this process, or by workers of a queue. */
export interface Evaluator {
  /** The model, or both. */
  readonly model: string;
  /** Settings of the model. Undefined: the workers have them. */
  readonly asked?: Settings;
  dispatcher(parts: { judging: Judging; onStablePart: OnStablePart }): Dispatcher;
  close(): Promise<void>;
}

/** Name and judging of a resumed or a new run. */
export interface RunIdentity {
  readonly earlier: RunSummary | undefined;
  readonly name: string;
  readonly startedAt: string;
  readonly judging: Judging;
}

/** Call it under the folder's lock, since another process may have written there meanwhile. */
export async function identifyRun({ out, flags, options }: EvaluationSetup): Promise<RunIdentity> {
  checkOut(out, flags);
  const earlier = hasRun(out) ? await withRun(out, (store) => store.summary()) : undefined;
  const { only, distractors, seed } = flags;
  const today = dayOf(flags.today, earlier?.settings);
  return {
    earlier,
    name: earlier?.name ?? basename(out),
    startedAt: earlier?.startedAt ?? new Date().toISOString(),
    judging: { only, distractors, seed, today, maxTools: options.maxTools },
  };
}

/** @throws WinnowError `invalid_option` naming each setting in which a resumed run differs */
export function startOf(setup: EvaluationSetup, run: RunIdentity, evaluator: Evaluator): RunStart {
  const { model } = evaluator;
  const settings = settingsOf(setup, run.judging, evaluator);
  if (run.earlier) refuseOtherSettings(run.earlier.settings, settings);
  const { source, flags, promptHashes, suites } = setup;
  return {
    name: run.name,
    startedAt: run.startedAt,
    model,
    settings,
    promptHashes: { ...promptHashes },
    planned: source.total * flags.repeat,
    cases: source.total,
    suites: suites.map(({ name, catalog }) => ({
      name,
      catalog: catalog.name,
      tools: catalog.tools.length,
      caseHash: source.hashes[name] ?? '',
    })),
  };
}

function settingsOf(
  { flags, suites, source, options, promptHashes }: EvaluationSetup,
  { today, distractors, seed }: Judging,
  { model, asked }: Evaluator,
): Settings {
  const { only, repeat, limit, sample, tag, failingOf } = flags;
  return toSettings({
    only: only ?? 'all',
    repeat,
    model,
    asked,
    prompts: promptHashes,
    suites: hashesOfSets(suites, source),
    filter: { limit, sample, seed, tags: tag, failingOf },
    distractors,
    today,
    options,
  });
}
