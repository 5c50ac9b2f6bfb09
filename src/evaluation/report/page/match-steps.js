/** Which expected step is which written one, and how their arguments differ. It shows; the scores judge. */
import { renameSteps, toWritten } from './references.js';

/** @import { ExpectedStep } from '../../record.ts' */
/** @import { Step } from '../../../result.ts' */

/**
 * @typedef {object} StepPair
 * @property {number} row
 * @property {ExpectedStep} [expected]
 * @property {string} [expectedId] As a written step would be called: `s1` for the first.
 * @property {Step} [got]
 */

/**
 * @typedef {'same' | 'accepted' | 'form' | 'optional' | 'different' | 'missing' | 'extra' | 'unjudged'} Verdict
 * same, accepted (a value that counts as right too), form (only case, space or type differ), optional (may be left
 * out), different, missing, extra, unjudged (the benchmark does not tell the arguments).
 * @typedef {{name: string, verdict: Verdict, expected?: unknown, got?: unknown}} ArgumentPair
 */

/**
 * A step goes with the one of the same tool that shares most arguments; what is left over stands alone.
 * @param {ExpectedStep[]} expected
 * @param {Step[]} got
 * @returns {StepPair[]}
 */
export function matchSteps(expected, got) {
  const free = new Set(got);
  const pairs = expected.map((step, row) => {
    const expectedId = `s${row + 1}`;
    const candidates = [...free].filter(({ tool }) => tool === step.tool);
    const best = candidates.sort((a, b) => likeness(step, b) - likeness(step, a))[0];
    if (best) free.delete(best);
    return { row, expected: step, expectedId, ...(best ? { got: best } : {}) };
  });
  return [...pairs, ...[...free].map((step, at) => ({ row: expected.length + at, got: step }))];
}

/** @param {ExpectedStep} expected @param {Step} got */
function likeness(expected, got) {
  return Object.entries(expected.arguments).filter(([name, value]) => isEqual(value, got.arguments[name])).length;
}

/**
 * @param {StepPair} pair
 * @param {StepPair[]} pairs All, since a reference names a step of its own side.
 * @returns {ArgumentPair[]}
 */
export function compareArguments({ expected, got }, pairs) {
  const wanted = /** @type {Record<string, unknown>} */ (toWritten(expected?.arguments ?? {}));
  const others = /** @type {Record<string, unknown[]>} */ (toWritten(expected?.argumentsAnyOf ?? {}));
  const written = got?.arguments ?? {};
  const names = [...new Set([...Object.keys(wanted), ...Object.keys(written)])];
  const rowOf = (/** @type {'expected' | 'got'} */ side) => (/** @type {string} */ id) =>
    `row${pairs.find((pair) => (side === 'expected' ? pair.expectedId : pair.got?.id) === id)?.row ?? `-none-${side}`}`;
  return names.map((name) => {
    const accepted = (name in wanted ? [wanted[name]] : []).concat(others[name] ?? []);
    const compared = judge(
      accepted.map((value) => renameSteps(value, rowOf('expected'))),
      name in written ? { value: renameSteps(written[name], rowOf('got')) } : undefined,
      name in wanted,
    );
    const verdict = expected?.argumentsUnknown ? 'unjudged' : compared;
    return {
      name,
      verdict,
      ...(name in wanted ? { expected: wanted[name] } : {}),
      ...(name in written ? { got: written[name] } : {}),
    };
  });
}

/** @param {unknown[]} accepted The expected value first, where there is one. @param {{value: unknown} | undefined} got @param {boolean} isWanted @returns {Verdict} */
function judge(accepted, got, isWanted) {
  if (!got) return accepted.some((value) => value === '') ? 'optional' : 'missing';
  if (isWanted && isEqual(accepted[0], got.value)) return 'same';
  if (accepted.some((value) => isEqual(value, got.value))) return 'accepted';
  if (accepted.some((value) => plain(value) === plain(got.value))) return 'form';
  return isWanted || accepted.length > 0 ? 'different' : 'extra';
}

/** @param {unknown} one @param {unknown} other */
function isEqual(one, other) {
  return canonical(one) === canonical(other);
}

/** @param {unknown} value @returns {string} JSON with the keys of objects in order. */
function canonical(value) {
  return (
    JSON.stringify(value, (_, inner) =>
      typeof inner === 'object' && inner !== null && !Array.isArray(inner)
        ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
        : inner,
    ) ?? 'undefined'
  );
}

/** @param {unknown} value */
function plain(value) {
  return canonical(value).toLowerCase().replaceAll(/["\s]/gu, '');
}
