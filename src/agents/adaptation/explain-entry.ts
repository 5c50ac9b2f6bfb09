/** A learnt entry in words, for those who decide on it. */
import type { LearntEntry } from './entry.js';

/** In words: for whom, what, on which evidence, and who decided. */
export function explainEntry({ level, subject, kind, state, evidence, value, details }: LearntEntry): string {
  const whom = level === 'all' ? 'For all' : `For the ${level} "${subject}"`;
  const { tool, term, share = 0, users, queries, decidedBy } = details;
  const percent = `${Math.round(share * 100)} %`;
  const what = {
    weight: `${tool} stands higher among its matches`,
    synonym: `the word "${term ?? ''}" stands for ${tool}, which was used after ${percent} of the searches with it`,
    always_on: `${tool} is always on where that is approved: it was used in ${percent} of the sessions`,
  }[kind];
  const whose = users === 1 ? 'one user' : `${users} users`;
  const from = queries.length > 0 ? ` Queries: ${queries.map((query) => `"${query}"`).join(', ')}.` : '';
  const decided = decidedBy === undefined ? '' : `, decided by ${decidedBy}`;
  return `${whom}, ${what}. Evidence: ${evidence} uses of ${whose}, worth ${value} after decay.${from} It is ${state}${decided}.`;
}
