/** The runs below a folder, for a server that shows them: a list, and the report of one, or of two beside each other. */
import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import { messageOf, WinnowError } from '../../core/errors.js';
import { compareRuns } from '../compare.js';
import { reported, withCompared } from '../outputs.js';
import { readSummary, runsIn, withRun } from '../run-store.js';
import type { RunSummary } from '../run-summary.js';
import { packRecords, type ReportParts, toData } from './render-report.js';

/** @param folder need not exist */
export function openEvaluations(folder: string) {
  return {
    /** Oldest first. Runs of one `group` have the same cases, so that two of them can be compared. */
    async list() {
      const runs: ListedRun[] = [];
      const unreadable: string[] = [];
      const groups: string[] = [];
      for (const path of paths()) {
        try {
          const summary = await readSummary(path);
          const done = await withRun(path, async (store) => (await store.doneKeys()).size);
          const cases = JSON.stringify(summary.suites.map(({ name, caseHash }) => [name, caseHash]));
          if (!groups.includes(cases)) groups.push(cases);
          runs.push({ ...toListed(summary, basename(path)), done, group: groups.indexOf(cases) });
        } catch (error) {
          unreadable.push(`${path}: ${messageOf(error)}`);
        }
      }
      runs.sort((one, other) => one.startedAt.localeCompare(other.startedAt));
      return { folder, runs, unreadable };
    },

    /** @param before an earlier run to show beside it. @throws WinnowError `not_found` */
    async report(id: string, before?: string) {
      const path = pathOf(id);
      if (before !== undefined) {
        const folders = [pathOf(before), path] as const;
        return withCompared(await compareRuns(...folders), folders, pack);
      }
      const summary = await readSummary(path);
      return withRun(path, async (store) => pack(await reported(store, summary)));
    },
  };

  function paths(): string[] {
    return existsSync(folder) ? runsIn(folder) : [];
  }

  function pathOf(id: string): string {
    const path = paths().find((one) => basename(one) === id);
    if (path !== undefined) return path;
    throw new WinnowError('not_found', `There is no run "${id.slice(0, 80)}" of winnow eval here.`);
  }
}

type ListedRun = ReturnType<typeof toListed> & { readonly done: number; readonly group: number };

function toListed({ name, model, startedAt, endedAt, planned, metrics, suites }: RunSummary, id: string) {
  const main = metrics.filter(({ primary, count }) => primary && count > 0);
  return {
    ...{ id, name, model, startedAt, planned, suites: suites.map((one) => one.name).join(', ') },
    ...(endedAt === undefined ? {} : { endedAt }),
    metrics: main.map(({ name: key, label, unit, mean }) => ({ name: key, label, unit, mean })),
  };
}

async function pack(parts: ReportParts) {
  const blocks = { cases: [] as string[], rows: [] as string[], prompts: [] as string[] };
  for await (const { kind, text } of packRecords(parts)) blocks[kind].push(text);
  return { data: toData(parts), blocks };
}
