/** A step as the graph of a plan draws it. */

/** hit: in both plans; missing: only expected; extra: only written; unjudged: nothing is expected of it. */
export type ShownState = 'hit' | 'missing' | 'extra' | 'unjudged';

export interface ShownStep {
  readonly id: string;
  readonly tool: string;
  readonly state: ShownState;
  /** Shown behind its id. Default: by its state. */
  readonly mark?: string;
  readonly uses: readonly { readonly from: string; readonly field: string; readonly state: ShownState }[];
}
