/** Lines that tell how far a measurement is: every ten cases, and at the end of a contestant's turn. */
import type { Outcome } from './outcome.js';
import type { QualitySet } from './sets.js';
import { summarise } from './summary.js';

/** Told each outcome as it comes, one contestant and set after the other. */
export function createProgress(
  sets: readonly Pick<QualitySet, 'id' | 'cases'>[],
  tell: (text: string) => void,
): (outcome: Outcome) => void {
  let turn: Outcome[] = [];
  return (outcome) => {
    const { set, contestant } = outcome;
    const [first] = turn;
    if (first && (first.set !== set || first.contestant !== contestant)) turn = [];
    turn.push(outcome);
    const planned = sets.find(({ id }) => id === set)?.cases.length ?? 0;
    if (turn.length % 10 !== 0 && turn.length !== planned) return;
    const [row] = summarise(turn);
    const figures = Object.entries(row?.metrics ?? {}).map(([name, { mean }]) => `${name} ${mean.toFixed(3)}`);
    const fresh = turn.reduce((sum, { spent }) => sum + spent.fresh, 0);
    tell([`${set}, ${contestant}: ${turn.length}/${planned}`, ...figures, `${fresh} answers asked for`].join(', '));
  };
}
