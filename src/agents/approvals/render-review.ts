/** Where a call goes and how it differs from the last approved one, as lines for people. */
import type { Approval } from '../records.js';

export function renderReview({ runs, last }: Pick<Approval, 'runs' | 'last'>): string[] {
  const where = runs ? [`runs: ${runs.where}, ${runs.risk} risk`] : [];
  if (!last) return where;
  const { decidedBy, decidedAt, differences } = last;
  const like = differences.length === 0 ? 'the same arguments as' : 'differs from';
  const lines = differences.map(({ argument, before, now }) => `  ${argument}: ${show(before)} -> ${show(now)}`);
  return [...where, `${like} the call that ${decidedBy} approved at ${decidedAt}`, ...lines];
}

function show(value: unknown): string {
  return value === undefined ? 'not given' : JSON.stringify(value);
}
