/** What every contestant is asked and what it answers, whatever it is inside. */
import type { Catalog } from '../../../src/core/catalog/catalog.js';
import type { Tool } from '../../../src/core/catalog/tool.js';
import type { Model } from '../../../src/core/model/model.js';
import type { PlanRequest } from '../../../src/core/request.js';
import type { Step } from '../../../src/core/result.js';
import type { EvaluationCase } from '../../../src/eval/case.js';
import type { QualitySet } from './sets.js';

export interface Trial {
  readonly case: EvaluationCase;
  readonly request: PlanRequest;
  readonly catalog: Catalog;
  /** What the caller sees of it, in the catalogue's order; the same list for all who see the same. */
  readonly tools: readonly Tool[];
  /** Whether the whole way is asked for: a plan, or none because nothing fits. Else the tools alone. */
  readonly wantsPlan: boolean;
}

export type Reply =
  | {
      readonly kind: 'answered';
      /** Handed on to the second call, in order; of one who makes no selection, those that are called. */
      readonly tools: readonly string[];
      /** Whose schemas are loaded, where that is not `tools`. */
      readonly loaded?: readonly string[];
      /** Empty where no plan was made; absent where none was asked for. */
      readonly steps?: readonly Step[];
      /** Nothing would be called. */
      readonly abstained: boolean;
      /** In one word how it came about, for example `fallback`. */
      readonly mode?: string;
    }
  /** The caller gets an exception: no tool, no plan. */
  | { readonly kind: 'unanswered'; readonly reason: string }
  /** It can't be asked at all: what it would send is larger than the context. */
  | { readonly kind: 'does-not-fit'; readonly tokens: number };

export interface Entrant {
  /** Throws only where the measurement itself is at fault: what the contestant throws at its caller is `unanswered`. */
  answer(trial: Trial): Promise<Reply>;
}

export interface Arena {
  readonly set: QualitySet;
  readonly model: Model;
  /** Most tools handed on. */
  readonly maxTools: number;
}

/**
 * In the order of the work. `first`: measured on all sets before any other, a first answer. `peer`: others that hand tools
 * on or call them, slower by far. `part`: Winnow with one part off. `variant`: only where it is named.
 */
export const GROUPS = ['first', 'peer', 'part'] as const;

export interface Contestant {
  readonly id: string;
  readonly title: string;
  readonly group: (typeof GROUPS)[number];
  /** Why it would say nothing new on this set; undefined: it is measured. */
  idleOn(arena: Pick<Arena, 'set' | 'model'>): string | undefined;
  enter(arena: Arena): Entrant;
}

/** Where the needed tools are given there is nothing to select, and all who select would be alike. */
export function idleWhereGiven({ set }: Pick<Arena, 'set'>): string | undefined {
  return set.given === undefined ? undefined : 'nothing is to be selected: the needed tools are given';
}
