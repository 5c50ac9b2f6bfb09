/** A case as it lies in the page: its record, what is drawn of its plans, and where the prompts of its calls are. */
import type { CaseRecord } from '../record.js';

export interface WholeCase {
  /** With a comparison wherever there is a plan. */
  readonly record: CaseRecord;
  readonly plan: ShownPlan | undefined;
  /** Place of the stable part of each call; null where it was not kept. */
  readonly prompts: ([number, number] | null)[];
}

export interface ShownPlan {
  /** Called `s1`, `s2` and so on, their references written as a plan has them. */
  readonly expected: (ShownStep & { readonly tool: string; readonly arguments: Readonly<Record<string, unknown>> })[];
  /** In the order of the result's steps. */
  readonly got: ShownStep[];
}

export interface ShownStep {
  readonly id: string;
  readonly uses: readonly { readonly from: string; readonly field: string; readonly state: ShownState }[];
}

/** hit: in both plans; missing: only expected; extra: only written; unjudged: written, where no edges are known. */
export type ShownState = 'hit' | 'missing' | 'extra' | 'unjudged';
