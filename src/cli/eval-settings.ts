/** What a run is done with: kept in its summary, and compared when it goes on. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { WinnowError } from '../errors.js';
import type { CaseRunnerOptions } from '../evaluation/case-runner.js';
import { hasRun, readSummary } from '../evaluation/run-folder.js';
import { differencesOf, type RunStart, type RunSummary } from '../evaluation/run-summary.js';
import type { EvaluationSetup } from './eval-setup.js';
import { checkOut } from './out-folder.js';

/** How cases are put and judged. */
export type Judging = Omit<CaseRunnerOptions, 'suites' | 'prices'>;

/** What a run is called and how it judges: that of the run that goes on, or of a new one. */
export interface RunIdentity {
  readonly earlier: RunSummary | undefined;
  readonly name: string;
  readonly startedAt: string;
  readonly judging: Judging;
}

/** Read under the lock of the folder: another process may have written there in the meantime. */
export function identifyRun({ out, flags, options }: EvaluationSetup): RunIdentity {
  checkOut('eval', out, flags);
  const earlier = hasRun(out) ? readSummary(out) : undefined;
  const { only, candidates, distractors, seed, ignoreCase = false } = flags;
  const today = flags.today ?? todayOf(earlier) ?? new Date().toISOString().slice(0, 10);
  return {
    earlier,
    name: earlier?.name ?? flags.name ?? basename(out),
    startedAt: earlier?.startedAt ?? new Date().toISOString(),
    judging: { only, candidates, distractors, seed, ignoreCase, today, maxTools: options.maxTools },
  };
}

function todayOf(earlier: RunSummary | undefined): string | undefined {
  return typeof earlier?.settings.today === 'string' ? earlier.settings.today : undefined;
}

/** @throws WinnowError `invalid_option` naming each setting in which the run that goes on differs */
export function startOf(setup: EvaluationSetup, run: RunIdentity, model: string): RunStart {
  const settings = settingsOf(setup, run.judging, model);
  if (run.earlier) refuseOtherSettings(run.earlier, settings);
  const { source, flags, promptHashes, prices, suites } = setup;
  return {
    name: run.name,
    startedAt: run.startedAt,
    model,
    settings,
    promptHashes: { ...promptHashes },
    ...(prices ? { currency: prices.currency } : {}),
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

/** All that changes what comes out; how many cases run at once, and whether answers are remembered, does not. */
function settingsOf(
  { flags, suites, source, options, promptHashes }: EvaluationSetup,
  { today, ignoreCase, candidates, distractors, seed }: Judging,
  model: string,
): Record<string, unknown> {
  const { only, repeat, limit, sample, tag, failingOf, prices } = flags;
  const sets = suites.map(({ name, catalog }) => [
    name,
    { catalog: catalog.fingerprint.slice(0, 16), cases: source.hashes[name]?.slice(0, 16) },
  ]);
  const settings = {
    only: only ?? 'all',
    repeat,
    model,
    prompts: promptHashes,
    suites: Object.fromEntries(sets),
    filter: { limit, sample, seed, tags: tag, failingOf },
    candidates,
    distractors,
    today,
    ignoreCase,
    prices:
      prices === undefined ? undefined : createHash('sha256').update(readFileSync(prices)).digest('hex').slice(0, 16),
    options,
  };
  return JSON.parse(JSON.stringify(settings));
}

function refuseOtherSettings(earlier: RunSummary, settings: Record<string, unknown>): void {
  const issues = differencesOf(earlier.settings, settings);
  if (issues.length === 0) return;
  const message = `The run can't go on with other settings: ${issues.join('; ')}. Give the same flags, or another --out.`;
  throw new WinnowError('invalid_option', message, { issues });
}
