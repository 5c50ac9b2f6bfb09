/** Lines for people: the approver's edits, where the call goes, and differences from the last approved one. */
import { type ArgumentDifference, differencesOf } from '../argument-sources.js';
import type { Approval, ApprovedPlan } from '../records.js';

type Reviewed = Pick<Approval, 'arguments' | 'granted' | 'decidedBy' | 'plan' | 'runs' | 'last'>;

export function renderReview({ arguments: asked, granted, decidedBy, plan, runs, last }: Reviewed): string[] {
  const edits = granted ? differencesOf(asked, granted.arguments).map(renderDifference) : [];
  const edited = granted ? [`${decidedBy} granted other arguments than asked for`, ...edits] : [];
  const steps = plan?.steps.flatMap(renderStep) ?? [];
  const where = [...edited, ...steps, ...(runs ? [`runs: ${runs.where}, ${runs.risk} risk`] : [])];
  if (!last) return where;
  const like = last.differences.length === 0 ? 'the same arguments as' : 'differs from';
  const lines = last.differences.map(({ argument, before, now }) => renderDifference({ argument, before, now }));
  return [...where, `${like} the call that ${last.decidedBy} approved at ${last.decidedAt}`, ...lines];
}

/** A step of a plan that is approved as a whole, with its dependencies on results. */
function renderStep(step: ApprovedPlan['steps'][number]): string[] {
  const { id, tool, arguments: given, each, when, where, risk, argumentsHash } = step;
  const control = [
    ...(each === undefined ? [] : [`for each of ${each}`]),
    ...(when ? [`if ${when.value} is ${when.is}${when.to === undefined ? '' : ` ${JSON.stringify(when.to)}`}`] : []),
    ...(argumentsHash === undefined ? ['asks by itself when its values are known'] : []),
  ];
  return [`${id} ${tool} ${JSON.stringify(given)}`, `  ${[where, `${risk} risk`, ...control].join(', ')}`];
}

function renderDifference({ argument, before, now }: ArgumentDifference): string {
  return `  ${argument}: ${show(before)} -> ${show(now)}`;
}

function show(value: unknown): string {
  return value === undefined ? 'not given' : JSON.stringify(value);
}
