/** The runs below a folder, for a server that shows them: a list, and the report of one, or of two beside each other. */
import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import { WinnowError } from '../../core/errors.js';
import { compareRuns } from '../compare.js';
import { reported, withCompared } from '../outputs.js';
import { type PastRun, readHistory, readSummary, runsIn, withRun } from '../run-store.js';
import { packRecords, type ReportParts, toData } from './render-report.js';

/** @param folder need not exist */
export function openEvaluations(folder: string) {
  return {
    async list() {
      const { groups, unreadable } = existsSync(folder) ? await readHistory(folder) : { groups: [], unreadable: [] };
      const runs = groups.flatMap((one, group) =>
        one.runs.map((run) => ({ ...toListed(run), suites: one.suites, group })),
      );
      return { folder, runs, unreadable: [...unreadable] };
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

  function pathOf(id: string): string {
    const path = (existsSync(folder) ? runsIn(folder) : []).find((one) => basename(one) === id);
    if (path !== undefined) return path;
    throw new WinnowError('not_found', `There is no run "${id.slice(0, 80)}" of winnow eval here.`);
  }
}

function toListed({ path, summary, done }: PastRun) {
  const { name, model, startedAt, endedAt, planned, metrics, currency } = summary;
  const main = metrics.filter(({ primary, count }) => primary && count > 0);
  return {
    ...{ id: basename(path), name, model, startedAt, planned, done },
    ...(endedAt === undefined ? {} : { endedAt }),
    ...(currency === undefined ? {} : { currency }),
    metrics: main.map(({ name: key, label, unit, mean }) => ({ name: key, label, unit, mean })),
  };
}

async function pack(parts: ReportParts) {
  const blocks = { cases: [] as string[], rows: [] as string[], prompts: [] as string[] };
  for await (const { kind, text } of packRecords(parts)) blocks[kind].push(text);
  return { data: toData(parts), blocks };
}
