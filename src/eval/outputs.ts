/** Writes the output files of a run: summary, records and page. */
import { createWriteStream, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Comparison } from './compare.js';
import { METRICS } from './metrics.js';
import { type ReportedRun, type ReportParts, renderReport, toWriteError } from './report/render-report.js';
import { type RunStore, withRun } from './run-store.js';
import type { RunSummary } from './run-summary.js';

/** @returns the path of the page. @throws WinnowError `invalid_option` when it can't be written */
export function writeOutputs(path: string, summary: RunSummary): Promise<string> {
  return withRun(path, async (store) => {
    writeFileSync(join(path, 'run.json'), `${JSON.stringify(summary, null, 2)}\n`);
    async function* lines() {
      for await (const record of store.records()) yield `${JSON.stringify(record)}\n`;
    }
    await pipeline(Readable.from(lines()), createWriteStream(join(path, 'cases.jsonl')));
    const out = join(path, 'report.html');
    await renderReport({ ...(await reported(store, summary)), out });
    return out;
  }).catch((error) => {
    // A full disk names no file.
    throw toWriteError(error, Object(error).path ?? path);
  });
}

export async function reported(store: RunStore, summary: RunSummary): Promise<ReportedRun> {
  const prompts = await store.prompts();
  const run = { ...summary, scores: Object.fromEntries(METRICS) };
  return { run, records: store.records(), promptText: (hash) => prompts.get(hash) };
}

/**
 * Opens two compared runs for the work on their report.
 * @param folders of the runs
 * @throws WinnowError `not_found` where there is no run
 */
export function withCompared<Result>(
  { first, second, metrics, settings }: Comparison,
  folders: readonly [string, string],
  work: (parts: ReportParts) => Promise<Result>,
): Promise<Result> {
  return withRun(folders[0], (before) =>
    withRun(folders[1], async (last) => {
      const earlier = { ...(await reported(before, first)), comparison: { metrics, settings } };
      return work({ ...(await reported(last, second)), before: earlier });
    }),
  );
}

/** Writes the page of two compared runs. @throws WinnowError as `withCompared`; `invalid_option` when it can't be written */
export function writeComparisonPage(
  comparison: Comparison,
  folders: readonly [string, string],
  out: string,
): Promise<void> {
  return withCompared(comparison, folders, (parts) => renderReport({ ...parts, out }));
}
