/** Data of the page: runs, a short list row for each result, and the whole case for an opened row. */
import { sumUsage } from '../../core/model/model.js';
import type { ComparedMetric } from '../compare.js';
import type { CaseRecord } from '../record.js';
import type { MetricMeaning, RunMetric, RunSummary } from '../run-summary.js';
import type { ShownPlan } from './show-plan.js';

export type ReportRun = Pick<
  RunSummary,
  'name' | 'startedAt' | 'endedAt' | 'interrupted' | 'model' | 'settings' | 'promptHashes' | 'planned'
> & {
  readonly metrics: readonly RunMetric[];
  readonly suites: readonly Pick<RunSummary['suites'][number], 'catalog' | 'tools'>[];
  /** All metrics of records' `scores`, also those that no case has. */
  readonly scores: Readonly<Record<string, MetricMeaning>>;
};

export interface ReportComparison {
  readonly metrics: readonly ComparedMetric[];
  /** Settings that differ, in words. */
  readonly settings: readonly string[];
}

export interface ReportData {
  /** One run, or two compared, the earlier first. */
  readonly runs: readonly ReportRun[];
  readonly comparison?: ReportComparison;
}

/** Blocks of each kind: lines of JSON, as gzip in base64. */
export type ReportBlocks = Readonly<Record<'cases' | 'rows' | 'prompts', readonly string[]>>;

/** `unjudged`: there is no verdict, for example on a skipped selection where no tool fits. */
export type CaseState = 'right' | 'wrong' | 'unjudged' | 'error';

/** Position of a line: index of its block, then of the line. */
export type Place = readonly [block: number, line: number];

export interface CaseRow {
  /** Index in `runs`. */
  readonly run: number;
  readonly id: string;
  readonly suite: string | undefined;
  readonly repeat: number;
  readonly query: string;
  readonly lang: string | undefined;
  readonly state: CaseState;
  /** For an error: its code. */
  readonly cause: string | undefined;
  readonly tags: readonly string[];
  /** Kind of the result; undefined for selection alone. */
  readonly kind: string | undefined;
  /** Mode of the selection. */
  readonly mode: string | undefined;
  /** Needed or selected tools, for the search. */
  readonly tools: readonly string[];
  /** Sum over both stages of read, cached and written tokens. */
  readonly tokens: number;
  readonly milliseconds: number;
  readonly place: Place;
}

export interface WholeCase {
  readonly record: CaseRecord;
  readonly plan: ShownPlan;
  /** The accepted set of tools that the case came nearest to. */
  readonly needed: readonly string[];
  /** Position of each call's stable part; null where its text was not kept. */
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

/** An error is not a wrong answer: the server or Winnow gave none. */
export function stateOf({ outcome, scores }: Pick<CaseRecord, 'outcome' | 'scores'>): CaseState {
  if (outcome === 'error') return 'error';
  if (typeof scores.right !== 'number') return 'unjudged';
  return scores.right === 1 ? 'right' : 'wrong';
}
