/** A case as the list, the filters and the charts know it: its row of the index with words in place of numbers. */
import { readIndex } from './data.js';
import { STATE_NAMES } from './states.js';

/** @import { CaseState, IndexBlock } from '../case-index.ts' */

/**
 * @typedef {object} Case
 * @property {number} number Place in the run, from 0.
 * @property {string} id
 * @property {number} repeat
 * @property {string} query
 * @property {CaseState} state
 * @property {string} link Names the case in an address: its id, or suite/id where another suite has that id too.
 * @property {string} [suite]
 * @property {string} [lang]
 * @property {string} [kind]
 * @property {string} [mode]
 * @property {string} [cause]
 * @property {string[]} tags
 * @property {string[]} expected
 * @property {{name: string, via: string}[]} got
 * @property {number} tokens Read, cached and written.
 * @property {number} loaded
 * @property {number} milliseconds
 * @property {number | null} cost
 * @property {[number, number]} place
 * @property {string} [words] What the search looks at; made at the first search.
 * @property {IndexBlock} block
 * @property {number} row
 */

/** @returns {Promise<Case[]>} */
export async function readCases() {
  const cases = [];
  /** One object for each word, however many blocks repeat it. @type {Map<string, string>} */
  const shared = new Map();
  for (const block of await readIndex()) {
    const words = block.words.map((word) => {
      if (!shared.has(word)) shared.set(word, word);
      return shared.get(word) ?? word;
    });
    for (let row = 0; row < block.id.length; row += 1) cases.push(toCase(block, row, { words, number: cases.length }));
  }
  nameTwins(cases);
  return cases;
}

/** Two suites may each have a case of one id. @param {Case[]} cases */
function nameTwins(cases) {
  const seen = new Set();
  for (const one of cases) {
    const key = `${one.repeat} ${one.id}`;
    if (seen.has(key)) one.link = `${one.suite ?? ''}/${one.id}`;
    seen.add(key);
  }
}

/**
 * @param {IndexBlock} block
 * @param {number} row
 * @param {{words: string[], number: number}} more
 * @returns {Case}
 */
function toCase(block, row, { words, number }) {
  /** @param {number[]} column */
  const word = (column) => words[column[row] ?? -1];
  /** @param {(number[])[]} column */
  const list = (column) => (column[row] ?? []).map((at) => words[at] ?? '');
  const got = list(block.got);
  const state = word(block.state);
  return {
    number,
    id: block.id[row] ?? '',
    repeat: block.repeat[row] ?? 0,
    query: block.query[row] ?? '',
    link: block.id[row] ?? '',
    state: STATE_NAMES.find((name) => name === state) ?? 'error',
    suite: word(block.suite),
    lang: word(block.lang),
    kind: word(block.kind),
    mode: word(block.mode),
    cause: word(block.cause),
    tags: list(block.tags),
    expected: list(block.expected),
    got: got.flatMap((name, at) => (at % 2 === 0 ? [{ name, via: got[at + 1] ?? '' }] : [])),
    tokens: (block.read[row] ?? 0) + (block.cached[row] ?? 0) + (block.written[row] ?? 0),
    loaded: block.loaded[row] ?? 0,
    milliseconds: block.milliseconds[row] ?? 0,
    cost: block.cost[row] ?? null,
    place: block.place[row] ?? [0, 0],
    block,
    row,
  };
}

/** @param {Case} one @param {string} name @returns {number | null} null where the score does not apply. */
export function scoreOf(one, name) {
  return one.block.scores[name]?.[one.row] ?? null;
}

/** The names of all scores, as the records name them. @param {Case[]} cases */
export function scoreNamesOf(cases) {
  const blocks = new Set(cases.map(({ block }) => block));
  return [...new Set([...blocks].flatMap(({ scores }) => Object.keys(scores)))];
}
