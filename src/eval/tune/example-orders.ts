/**
 * The same worked examples in another order. With small models the order alone decides between good and poor answers, and
 * a good one for one model is none for another (Lu et al., "Fantastically Ordered Prompts", ACL 2022): so it is tried.
 */
import { randomFor } from '../random.js';
import { type Admitter, type Candidate, toCandidate, type Variant } from './variant.js';

export interface ExampleOrderParts extends Admitter {
  best: Variant;
  /** At most so many. */
  count: number;
  seed: number;
}

/** From the last to the first, then orders by chance. None where there are not two examples. */
export function exampleOrders({ best, count, seed, ...admitter }: ExampleOrderParts): Candidate[] {
  const { examples } = best.draft;
  const places = examples.map((_, place) => place);
  const seen = new Set([places.join()]);
  const candidates: Candidate[] = [];
  for (let turn = 0; turn < count; turn++) {
    const order = turn === 0 ? places.toReversed() : shuffled(places, `${seed} ${turn}`);
    if (seen.has(order.join())) continue;
    seen.add(order.join());
    const about = `order of examples: ${order.map((place) => place + 1).join(', ')}`;
    const draft = { ...best.draft, examples: order.flatMap((place) => examples[place] ?? []) };
    const { options, caseIds } = best;
    candidates.push(toCandidate({ kind: 'order', about, draft, options, caseIds }, admitter));
  }
  return candidates;
}

function shuffled(places: readonly number[], name: string): number[] {
  const random = randomFor(0, name);
  const keyed = places.map((place) => ({ place, key: random() }));
  return keyed.toSorted((one, other) => one.key - other.key).map(({ place }) => place);
}
