/** What whoever decided has changed, where the call goes and how it differs from the last approved one, as lines for people. */
import { type ArgumentDifference, differencesOf } from '../argument-sources.js';
import type { Approval } from '../records.js';

type Reviewed = Pick<Approval, 'arguments' | 'granted' | 'decidedBy' | 'runs' | 'last'>;

export function renderReview({ arguments: asked, granted, decidedBy, runs, last }: Reviewed): string[] {
  const edits = granted ? differencesOf(asked, granted.arguments).map(renderDifference) : [];
  const edited = granted ? [`${decidedBy} granted other arguments than asked for`, ...edits] : [];
  const where = [...edited, ...(runs ? [`runs: ${runs.where}, ${runs.risk} risk`] : [])];
  if (!last) return where;
  const like = last.differences.length === 0 ? 'the same arguments as' : 'differs from';
  const lines = last.differences.map(({ argument, before, now }) => renderDifference({ argument, before, now }));
  return [...where, `${like} the call that ${last.decidedBy} approved at ${last.decidedAt}`, ...lines];
}

function renderDifference({ argument, before, now }: ArgumentDifference): string {
  return `  ${argument}: ${show(before)} -> ${show(now)}`;
}

function show(value: unknown): string {
  return value === undefined ? 'not given' : JSON.stringify(value);
}
