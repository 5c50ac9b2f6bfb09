/** Who is measured, in the order of the table and of the work: what tells most at the least cost comes first. */
import { ALL_BOUND } from './all-bound.js';
import { type Contestant, GROUPS } from './contestant.js';
import { KEYWORDS } from './keywords.js';
import { LANGCHAIN } from './langchain.js';
import { WINNOW } from './winnow.js';

const ALL = [...WINNOW, ...KEYWORDS, ...LANGCHAIN, ALL_BOUND];

export const CONTESTANTS: readonly Contestant[] = GROUPS.flatMap((group) => ALL.filter((one) => one.group === group));

/** @param ids names of contestants or of groups. @throws RangeError for a name that is not known */
export function contestantsOf(ids: readonly string[]): Contestant[] {
  const unknown = ids.find((id) => !CONTESTANTS.some((one) => one.id === id || one.group === id));
  if (unknown !== undefined) {
    const known = [...GROUPS, ...CONTESTANTS.map(({ id }) => id)].join(', ');
    throw new RangeError(`There is no contestant "${unknown}": use ${known}.`);
  }
  return CONTESTANTS.filter(({ id, group }) => ids.includes(id) || ids.includes(group));
}
