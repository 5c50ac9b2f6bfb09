/** What a run is done with: kept in its summary, and compared when it goes on. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import type { Options } from '../config/options.js';
import { WinnowError } from '../errors.js';
import type { CaseSource } from '../evaluation/case-source.js';
import type { Prices } from '../evaluation/prices.js';
import { hasRun, readSummary } from '../evaluation/run-folder.js';
import { differencesOf, type RunStart, type RunSummary } from '../evaluation/run-summary.js';
import type { Suite } from '../evaluation/suite.js';
import type { Model } from '../model/model.js';
import type { EvalFlags } from './eval-options.js';

/** @throws WinnowError `invalid_option` where a run would be written over, or is not there to go on with. */
export function earlierRun(out: string, flags: EvalFlags): RunSummary | undefined {
  const isThere = hasRun(out);
  if (flags.resume && flags.out === undefined) {
    throw new WinnowError('invalid_option', '--resume needs --out FOLDER: the run to go on with.');
  }
  if (flags.retryErrors && !flags.resume) {
    throw new WinnowError('invalid_option', '--retry-errors goes with --resume.');
  }
  if (isThere && !flags.resume) {
    throw new WinnowError(
      'invalid_option',
      `There is a run in ${out} already: go on with --resume, or give another --out.`,
    );
  }
  return isThere ? readSummary(out) : undefined;
}

export interface Resolved {
  options: Options;
  promptHashes: Readonly<Record<string, string>>;
  suites: readonly Suite[];
  source: CaseSource;
  model: Model;
  today: string;
}

/** All that changes what comes out; how many cases run at once, and whether answers are remembered, does not. */
export function settingsOf(
  flags: EvalFlags,
  { options, promptHashes, suites, source, model, today }: Resolved,
): Record<string, unknown> {
  const { only, repeat, candidates, distractors, seed, limit, sample, tag, failingOf, ignoreCase, prices } = flags;
  const sets = suites.map(({ name, catalog }) => [
    name,
    { catalog: catalog.fingerprint.slice(0, 16), cases: source.hashes[name]?.slice(0, 16) },
  ]);
  const settings = {
    only: only ?? 'all',
    repeat,
    model: model.id,
    prompts: promptHashes,
    suites: Object.fromEntries(sets),
    filter: { limit, sample, seed, tags: tag, failingOf },
    candidates,
    distractors,
    today,
    ignoreCase: ignoreCase ?? false,
    prices:
      prices === undefined ? undefined : createHash('sha256').update(readFileSync(prices)).digest('hex').slice(0, 16),
    options,
  };
  return JSON.parse(JSON.stringify(settings));
}

export function todayOf(earlier: RunSummary | undefined): string | undefined {
  return typeof earlier?.settings.today === 'string' ? earlier.settings.today : undefined;
}

export function refuseOtherSettings(earlier: RunSummary, settings: Record<string, unknown>): void {
  const issues = differencesOf(earlier.settings, settings);
  if (issues.length === 0) return;
  const message = `The run can't go on with other settings: ${issues.join('; ')}. Give the same flags, or another --out.`;
  throw new WinnowError('invalid_option', message, { issues });
}

type StartParts = Omit<Resolved, 'options' | 'today'> & {
  out: string;
  earlier: RunSummary | undefined;
  settings: Record<string, unknown>;
  prices: Prices | undefined;
};

export function startOf(
  flags: EvalFlags,
  { out, earlier, settings, promptHashes, suites, source, model, prices }: StartParts,
): RunStart {
  return {
    name: earlier?.name ?? flags.name ?? basename(out),
    startedAt: earlier?.startedAt ?? new Date().toISOString(),
    model: model.id,
    settings,
    promptHashes,
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
