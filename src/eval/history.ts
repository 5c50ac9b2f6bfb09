/** The runs in a folder over time, each set of cases by itself: only runs of the same cases can be held side by side. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf, WinnowError } from '../core/errors.js';
import { countRecords, hasRun, readSummary } from './run-folder.js';
import type { RunSummary } from './run-summary.js';

export interface PastRun {
  readonly path: string;
  readonly summary: RunSummary;
  /** Cases and repeats. Of a run that was killed its summary does not know. */
  readonly done: number;
}

export interface HistoryGroup {
  /** Names of the suites. */
  readonly suites: string;
  /** Oldest first. */
  readonly runs: readonly PastRun[];
}

export interface History {
  readonly groups: readonly HistoryGroup[];
  /** Folders whose run can't be read, and why. */
  readonly unreadable: readonly string[];
}

/** @throws WinnowError `not_found` where there is no such folder. */
export async function readHistory(folder: string): Promise<History> {
  const unreadable: string[] = [];
  const groups = new Map<string, PastRun[]>();
  for (const path of runsIn(folder)) {
    try {
      const summary = readSummary(path);
      const done = summary.interrupted ? await countRecords(path) : summary.counts.done;
      const key = JSON.stringify(summary.suites.map(({ name, caseHash }) => [name, caseHash]));
      groups.set(key, [...(groups.get(key) ?? []), { path, summary, done }]);
    } catch (error) {
      unreadable.push(messageOf(error));
    }
  }
  const sorted = [...groups.values()].map((runs) => ({
    suites: runs[0]?.summary.suites.map(({ name }) => name).join(', ') ?? '',
    runs: runs.sort((one, other) => one.summary.startedAt.localeCompare(other.summary.startedAt)),
  }));
  return { groups: sorted, unreadable };
}

function runsIn(folder: string): string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    return entries.map((entry) => join(folder, entry.name)).filter(hasRun);
  } catch (cause) {
    throw new WinnowError('not_found', `There is no folder of runs at ${folder}.`, { cause });
  }
}
