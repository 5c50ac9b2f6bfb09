/** What lies in the page: the runs, one short row a result for the list, and the whole case that an opened row reads. */
import { sumUsage } from '../../core/model/model.js';
import type { ComparedMetric } from '../compare.js';
import type { CaseRecord } from '../record.js';
import type { MetricMeaning, RunMetric, RunSummary } from '../run-summary.js';
import type { ShownPlan } from './show-plan.js';

export type ReportRun = Pick<
  RunSummary,
  'name' | 'startedAt' | 'endedAt' | 'interrupted' | 'model' | 'settings' | 'promptHashes' | 'currency' | 'planned'
> & {
  readonly metrics: readonly RunMetric[];
  readonly suites: readonly Pick<RunSummary['suites'][number], 'catalog' | 'tools'>[];
  /** What is in `scores` of a record, also where no case has it. */
  readonly scores: Readonly<Record<string, MetricMeaning>>;
};

export interface ReportComparison {
  readonly metrics: readonly ComparedMetric[];
  /** Settings that differ, in words. */
  readonly settings: readonly string[];
}

export interface ReportData {
  /** One, or two that are compared, the earlier first. */
  readonly runs: readonly ReportRun[];
  readonly comparison?: ReportComparison;
}

/** `unjudged`: of a selection that was skipped, for example, it cannot be said where nothing fits. */
export type CaseState = 'right' | 'wrong' | 'unjudged' | 'error';

/** Place of a line: block of its kind, line in it. */
export type Place = readonly [block: number, line: number];

export interface CaseRow {
  /** Place of its run in `runs`. */
  readonly run: number;
  readonly id: string;
  readonly suite: string | undefined;
  readonly repeat: number;
  readonly query: string;
  readonly lang: string | undefined;
  readonly state: CaseState;
  /** Of an error: its code. */
  readonly cause: string | undefined;
  readonly tags: readonly string[];
  /** Kind of the result; undefined where only selection was asked for. */
  readonly kind: string | undefined;
  /** Mode of the selection. */
  readonly mode: string | undefined;
  /** Tools needed or handed on: what the search looks at. */
  readonly tools: readonly string[];
  /** Of both stages: read, cached and written. */
  readonly tokens: number;
  readonly milliseconds: number;
  readonly place: Place;
}

export interface WholeCase {
  readonly record: CaseRecord;
  readonly plan: ShownPlan;
  /** Of several accepted sets of tools the one that the case came nearest to. */
  readonly needed: readonly string[];
  /** Place of the stable part of each call; null where its text was not kept. */
  readonly prompts: readonly (Place | null)[];
}

export function toRow(record: CaseRecord, run: number, place: Place): CaseRow {
  const { id, suite, repeat, query, lang, tags, expected, selection, result, usage } = record;
  const { read, cached, written } = sumUsage(usage.selection, usage.planning);
  const got = selection?.tools.map(({ name }) => name) ?? [];
  return {
    ...{ run, id, suite, repeat, query, lang, tags, place },
    state: stateOf(record),
    cause: record.error?.code ?? record.cause,
    kind: result?.kind,
    mode: selection?.mode,
    tools: [...new Set([...expected.tools, ...got])],
    tokens: read + cached + written,
    milliseconds: Math.round(record.milliseconds.total),
  };
}

/** An error is no wrong answer: the server, or Winnow, gave none. */
export function stateOf({ outcome, scores }: Pick<CaseRecord, 'outcome' | 'scores'>): CaseState {
  if (outcome === 'error') return 'error';
  if (typeof scores.right !== 'number') return 'unjudged';
  return scores.right === 1 ? 'right' : 'wrong';
}
