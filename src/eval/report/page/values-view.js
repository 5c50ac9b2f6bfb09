/** Arguments side by side; what differs is marked within the text. */
import { element } from './dom.js';

/** @import { ArgumentVerdict } from '../../record.ts' */

/** @typedef {{name: string, verdict: ArgumentVerdict, expected?: unknown, got?: unknown}} ArgumentPair An absent value is undefined. */

/** @type {Record<ArgumentVerdict, {sign: string, words: string}>} */
const VERDICTS = {
  same: { sign: '✓', words: 'same' },
  form: { sign: '✓', words: 'same, in another form' },
  accepted: { sign: '✓', words: 'accepted too' },
  default: { sign: '✓', words: 'the default' },
  optional: { sign: '✓', words: 'may be left out' },
  unjudged: { sign: '·', words: 'not judged' },
  different: { sign: '≠', words: 'differs' },
  missing: { sign: '✗', words: 'missing' },
  extra: { sign: '+', words: 'not expected' },
};

/** @param {ArgumentPair[]} pairs */
export function renderValues(pairs) {
  if (pairs.length === 0) return element('p', { class: 'muted' }, 'No arguments.');
  return element(
    'table',
    { class: 'values' },
    element(
      'thead',
      {},
      element(
        'tr',
        {},
        ['Argument', 'Expected', 'Got', ''].map((head) =>
          element('th', { scope: 'col' }, head || element('span', { class: 'hidden' }, 'Verdict')),
        ),
      ),
    ),
    element('tbody', {}, pairs.map(renderPairOfValues)),
  );
}

/** @param {ArgumentPair} pair */
function renderPairOfValues(pair) {
  const { name, verdict } = pair;
  const [expected, got] = [textOf(pair, 'expected'), textOf(pair, 'got')];
  const isMarked = verdict === 'different' && expected !== undefined && got !== undefined;
  const [expectedPart, gotPart] = isMarked ? markDifference(expected, got) : [expected, got];
  return element(
    'tr',
    { class: `verdict-${verdict}`, 'data-argument': name, 'data-verdict': verdict },
    element('th', { scope: 'row' }, element('code', {}, name)),
    element('td', { 'data-label': 'expected' }, renderSideOfValue(expectedPart)),
    element('td', { 'data-label': 'got' }, renderSideOfValue(gotPart)),
    element(
      'td',
      { class: 'verdict' },
      element('span', { 'aria-hidden': 'true' }, VERDICTS[verdict].sign),
      ' ',
      VERDICTS[verdict].words,
    ),
  );
}

/** @param {ArgumentPair} pair @param {'expected' | 'got'} side */
function textOf(pair, side) {
  const value = pair[side];
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** @param {string | (string | Node)[] | undefined} content */
function renderSideOfValue(content) {
  if (content === undefined) return element('span', { class: 'muted' }, '–');
  const isReference = typeof content === 'string' && /^\$\{s\d+[^}]*\}$/u.test(content);
  return element('span', { class: isReference ? 'value reference' : 'value' }, content);
}

/** All between the common beginning and the common end. @param {string} one @param {string} other */
function markDifference(one, other) {
  const [a, b] = [[...one], [...other]];
  let start = 0;
  while (start < Math.min(a.length, b.length) && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < Math.min(a.length, b.length) - start && a.at(-1 - end) === b.at(-1 - end)) end += 1;
  return [a, b].map((signs) => {
    const changed = signs.slice(start, signs.length - end).join('');
    return [
      signs.slice(0, start).join(''),
      ...(changed ? [element('mark', {}, changed)] : []),
      end > 0 ? signs.slice(-end).join('') : '',
    ];
  });
}
