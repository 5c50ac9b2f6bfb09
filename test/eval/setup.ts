/** Records, cases and runs for tests, from what the test is about. */

import type { SelectedTool, Selection, Step } from '../../src/core/result.js';
import type { EvaluationCase } from '../../src/eval/case.js';
import { summarise } from '../../src/eval/evaluate.js';
import { type CaseRecord, caseRecordSchema } from '../../src/eval/record.js';
import { openRunStore, type RunStore, runFile, usingStore } from '../../src/eval/run-store.js';
import type { RunStart, RunSummary } from '../../src/eval/run-summary.js';
import { temporaryFolder } from '../support/temporary-folder.js';

export const NO_USAGE = { calls: 0, read: 0, cached: 0, written: 0 };

export function aCase(more: Partial<EvaluationCase> = {}): EvaluationCase {
  return {
    id: 'c1',
    suite: 'set',
    request: { message: 'the level of the lake' },
    expected: { tools: ['read_level'] },
    ignoreCase: false,
    tags: [],
    ...more,
  };
}

export function aRecord(more: Partial<CaseRecord> = {}): CaseRecord {
  return caseRecordSchema.parse({
    id: 'c1',
    suite: 'set',
    repeat: 0,
    query: 'the level of the lake',
    tags: [],
    expected: { tools: ['read_level'] },
    outcome: 'answered',
    selection: aSelection(['read_level']),
    scores: { right: 1, recall: 1 },
    usage: { selection: NO_USAGE, planning: NO_USAGE, schemaTokens: { all: 100, loaded: 10 } },
    milliseconds: { selection: 5, total: 9 },
    calls: [],
    ...more,
  });
}

export function anError(id: string, repeat = 0): CaseRecord {
  const error = { code: 'model_failed', message: 'HTTP 500', issues: [] };
  return aRecord({ id, repeat, outcome: 'error', error, scores: {}, cause: 'error' });
}

/** Names, or whole entries; those that are names came by the model. */
export function aSelection(tools: readonly (string | SelectedTool)[], more: Partial<Selection> = {}): Selection {
  const entries = tools.map((tool): SelectedTool => (typeof tool === 'string' ? { name: tool, via: 'model' } : tool));
  return {
    mode: entries.length === 0 ? 'none' : 'selected',
    reason: '',
    tools: entries,
    dropped: [],
    leftOut: 0,
    ...more,
  };
}

/** `[tool, arguments, dependsOn]` a step, named s1, s2 and so on. */
export function steps(...rows: readonly (readonly [string, Record<string, unknown>?, string[]?])[]): Step[] {
  return rows.map(([tool, values = {}, dependsOn = []], place) => ({
    id: `s${place + 1}`,
    tool,
    arguments: values,
    purpose: '',
    dependsOn,
  }));
}

export function aStart(more: Partial<RunStart> = {}): RunStart {
  return {
    name: 'run',
    startedAt: '2026-11-22T08:00:00.000Z',
    model: 'scripted',
    settings: { only: 'all' },
    promptHashes: { 'select-tools': 'abcdef012345' },
    planned: 1,
    cases: 1,
    suites: [{ name: 'set', catalog: 'tools', tools: 3, caseHash: 'ff' }],
    ...more,
  };
}

/** A finished run on the disk. */
export async function aRun(
  records: readonly CaseRecord[],
  more: Partial<RunStart> = {},
): Promise<{ path: string; summary: RunSummary }> {
  const path = temporaryFolder();
  const summary = await inRun(path, async (store) => {
    await store.keep(records);
    return summarise(store, aStart({ planned: records.length, cases: records.length, ...more }));
  });
  return { path, summary };
}

/** Work with the store of a run, which is made where it is missing. */
export async function inRun<Result>(path: string, work: (store: RunStore) => Promise<Result>): Promise<Result> {
  return usingStore(await openRunStore(runFile(path)), work);
}

/** `id#repeat` of all records, in their order. */
export function keysIn(path: string): Promise<string[]> {
  return inRun(path, async (store) => {
    const keys = [];
    for await (const { id, repeat } of store.records()) keys.push(`${id}#${repeat}`);
    return keys;
  });
}
