/** A result as a case for `winnow eval`: what came out becomes what is expected, for a person to look at and mend. */

/** @import { PlanResult, Plan } from '../../../core/result.ts' */

/** A reference of a plan: its step, and the path in its result, for example `.code`. */
export const REFERENCE = /\$\{(s\d+)([^{}]*)\}/gu;

/** Fields of a request that a case has, too. */
const SHARED = ['history', 'entities', 'intent', 'user', 'today', 'timeZone', 'locale'];

/** One line of JSON, as the files of `fixtures/cases` have it. @param {Record<string, unknown>} request @param {PlanResult} result */
export function toCaseLine(request, result) {
  const shared = Object.entries(request).filter(([name]) => SHARED.includes(name));
  const line = { query: request.message, ...Object.fromEntries(shared), ...expectedOf(result), tags: ['console'] };
  return `${JSON.stringify(line)}\n`;
}

/** @param {PlanResult} result */
function expectedOf(result) {
  const { kind } = result;
  if (kind === 'plan') {
    const tools = [...new Set(result.steps.map(({ tool }) => tool))];
    return { expectedTools: tools, expectedSteps: stepsOf(result), expectedKind: kind };
  }
  if (kind === 'unplannable') return { expectedTools: [], expectedKind: kind };
  // What is asked back about is not told: the tools that were surely chosen stand for it.
  const chosen = result.selection.tools.filter(({ via, fill }) => via === 'model' && !fill);
  return { expectedTools: chosen.map(({ name }) => name), expectedKind: kind };
}

/** A case counts its steps from nought: `${s1.code}` is `$0.code`. @param {Plan} plan */
function stepsOf({ steps }) {
  const places = new Map(steps.map(({ id }, place) => [id, place]));
  return steps.map(({ tool, arguments: values }) => {
    const text = JSON.stringify(values).replaceAll(REFERENCE, (whole, id, path) =>
      places.has(id) ? `$${places.get(id)}${path}` : whole,
    );
    return { tool, arguments: JSON.parse(text) };
  });
}
