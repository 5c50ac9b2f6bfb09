/** A result as a case for `winnow eval`: the output becomes the expectation, for a person to review and correct. */

/** @import { PlanResult, Plan } from '../../../core/result.ts' */

/** A reference of a plan: its step, and the path in its result, for example `.code`. */
export const REFERENCE = /\$\{(s\d+)([^{}]*)\}/gu;

/** Fields that requests and cases share. */
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
  // A clarification does not name its tools: those that the model surely chose stand for them.
  const chosen = result.selection.tools.filter(({ via, fill }) => via === 'model' && !fill);
  return { expectedTools: chosen.map(({ name }) => name), expectedKind: kind };
}

/** A case numbers its steps from 0: `${s1.code}` is `$0.code`. @param {Plan} plan */
function stepsOf({ steps }) {
  const places = new Map(steps.map(({ id }, place) => [id, place]));
  return steps.map(({ tool, arguments: values }) => {
    const text = JSON.stringify(values).replaceAll(REFERENCE, (whole, id, path) =>
      places.has(id) ? `$${places.get(id)}${path}` : whole,
    );
    return { tool, arguments: JSON.parse(text) };
  });
}
