/** The bars that are set for Winnow, each with what was measured: reached, not reached, or not (wholly) measured. */
import type { Outcome } from './outcome.js';
import { SETS } from './sets.js';
import { type Duel, duelsOf, OURS, type Row, summarise } from './summary.js';

export interface Verdict {
  readonly bar: string;
  /** Undefined: not measured, or not against all, and so far not missed. */
  readonly reached: boolean | undefined;
  readonly figure: string;
}

/** Those that the bars name: the selector as it is, with the names shown, and keywords alone. */
export const PEERS = ['langchain', 'langchain-shown', 'keywords', 'bm25'] as const;
const RECALL_RATIO = 1.3;
const RATIO_SETS = ['restbench', 'metatool'];
const IRRELEVANCE_SETS = ['irrelevance', 'irrelevance50'];
const SCHEMA_TOKENS_SAVED = 0.85;

export function judgeBars(outcomes: readonly Outcome[]): Verdict[] {
  const rows = summarise(outcomes);
  const sets = [...new Set(rows.map(({ set }) => set))];
  return [
    ...RATIO_SETS.map((set) => ratioBar(outcomes, set)),
    ...sets.flatMap((set) => aboveBar(outcomes, set)),
    unansweredBar(rows),
    ...IRRELEVANCE_SETS.filter((set) => set === 'irrelevance' || sets.includes(set)).map((set) =>
      abstentionBar(outcomes, set),
    ),
    ...sets.flatMap((set) => tokensBar(rows, set)),
  ];
}

function ratioBar(outcomes: readonly Outcome[], set: string): Verdict {
  const duels = duelsOf(outcomes, { set, metric: 'recall', peers: PEERS });
  const bar = `${set}: recall at least ${RECALL_RATIO} times that of the best peer`;
  const [best] = duels;
  if (!best) return { bar, reached: undefined, figure: 'not measured' };
  const { ratio, ours, theirs, peer, difference } = best;
  const figure = `${ratio?.toFixed(2) ?? 'any'} times: ${ours.toFixed(3)} against ${theirs.toFixed(3)} of ${peer}, ${difference.count} cases`;
  return againstAll({ bar, reached: ratio === undefined || ratio >= RECALL_RATIO, figure }, duels);
}

function aboveBar(outcomes: readonly Outcome[], set: string): Verdict[] {
  const duels = duelsOf(outcomes, { set, metric: 'recall', peers: PEERS });
  const [best] = duels;
  if (!best) return [];
  const { ours, theirs, peer, difference } = best;
  const figure = `${ours.toFixed(3)} against ${theirs.toFixed(3)} of ${peer}: ${renderDifference(difference)}`;
  return [againstAll({ bar: `${set}: recall above every peer`, reached: ours > theirs, figure }, duels)];
}

/** A bar that is missed against one is missed; it is reached only when all were measured. */
function againstAll({ bar, reached, figure }: Verdict, duels: readonly Duel[]): Verdict {
  const missing = PEERS.filter((peer) => duels.every((duel) => duel.peer !== peer));
  if (missing.length === 0) return { bar, reached, figure };
  return { bar, reached: reached ? undefined : reached, figure: `${figure}; not measured: ${missing.join(', ')}` };
}

function unansweredBar(rows: readonly Row[]): Verdict {
  const ours = rows.filter(({ contestant }) => contestant === OURS);
  const cases = ours.reduce((sum, row) => sum + row.cases, 0);
  const count = ours.reduce((sum, { unanswered }) => sum + total(unanswered), 0);
  const bar = 'never an unanswered request';
  if (cases === 0) return { bar, reached: undefined, figure: 'not measured' };
  return { bar, reached: count === 0, figure: `${count} of ${cases}` };
}

function abstentionBar(outcomes: readonly Outcome[], set: string): Verdict {
  const [duel] = duelsOf(outcomes, { set, metric: 'abstention', peers: ['all-bound'] });
  const bar = `${set}: at least as many right abstentions as with all tools bound`;
  if (!duel) return { bar, reached: undefined, figure: 'not measured' };
  const figure = `${duel.ours.toFixed(3)} against ${duel.theirs.toFixed(3)}: ${renderDifference(duel.difference)}, ${duel.difference.count} cases`;
  return { bar, reached: duel.ours >= duel.theirs, figure };
}

function tokensBar(rows: readonly Row[], set: string): Verdict[] {
  const row = rows.find((one) => one.set === set && one.contestant === OURS);
  const { others, given } = SETS[set] ?? {};
  // Where all tools of a case are taken, there is nothing to leave away.
  if (!row || row.cases === 0 || others === 0 || given !== undefined) return [];
  const { all, loaded } = row.schemaTokens;
  const saved = 1 - loaded / all;
  return [
    {
      bar: `${set}: schema tokens at least ${SCHEMA_TOKENS_SAVED * 100} % below all tools bound`,
      reached: saved >= SCHEMA_TOKENS_SAVED,
      figure: `${(saved * 100).toFixed(1)} % less: ${Math.round(loaded)} of ${Math.round(all)}`,
    },
  ];
}

export function total(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

/** `+0.271 (+0.163 to +0.379)` */
export function renderDifference({ mean, low, high }: Duel['difference']): string {
  return `${signed(mean)} (${signed(low)} to ${signed(high)})`;
}

function signed(value: number): string {
  return `${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(3)}`;
}
