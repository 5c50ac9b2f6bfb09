/** The data of a report: runs, a row for each case, and whole cases, which are unpacked only when opened. */

/** @import { CaseRow, Place, ReportBlocks, ReportData, WholeCase } from '../report-data.ts' */

/**
 * A case with its row in each run; undefined in a run without it.
 * @typedef {object} Case
 * @property {string} key Names the case in an address.
 * @property {CaseRow} row From the last run that has it; id, request and tags are the same in all.
 * @property {(CaseRow | undefined)[]} rows
 * @property {string} verdict
 * @property {string} [words] Searchable words, made at the first search.
 */

/** Word, sign and colour of a case's verdict, failures first. @typedef {{word: string, sign: string, tone: string, isFailure?: boolean}} Verdict */

/** @type {Record<string, Verdict>} */
export const STATES = {
  wrong: { word: 'wrong', sign: '✗', tone: 'wrong', isFailure: true },
  error: { word: 'with an error', sign: '!', tone: 'error', isFailure: true },
  unjudged: { word: 'not judged', sign: '?', tone: 'extra' },
  right: { word: 'right', sign: '✓', tone: 'right' },
};

/** Verdicts on two runs. @type {Record<string, Verdict>} */
export const CHANGES = {
  lost: { word: 'lost', sign: '▼', tone: 'wrong', isFailure: true },
  failed: { word: 'right in neither', sign: '✗', tone: 'error', isFailure: true },
  won: { word: 'won', sign: '▲', tone: 'right' },
  single: { word: 'in one run only', sign: '?', tone: 'extra' },
  kept: { word: 'right in both', sign: '✓', tone: 'rest' },
};

/**
 * @typedef {object} ReportSource
 * @property {ReportData} data
 * @property {() => Promise<Case[]>} readCases
 * @property {(place: Place) => Promise<WholeCase>} readCase
 * @property {(place: Place) => Promise<string>} readPrompt
 */

/** @param {ReportData} data @param {ReportBlocks} blocks @returns {ReportSource} */
export function openSource(data, blocks) {
  const runs = data.runs.length;
  return {
    data,
    readCase: createReader(blocks.cases),
    readPrompt: createReader(blocks.prompts),
    async readCases() {
      const cases = /** @type {Map<string, Case>} */ (new Map());
      for (const block of blocks.rows) {
        for (const line of await unpackLines(block)) {
          const row = /** @type {CaseRow} */ (JSON.parse(line));
          const key = `${row.suite ? `${row.suite}/` : ''}${row.id}${row.repeat > 0 ? `#${row.repeat + 1}` : ''}`;
          const one = cases.get(key) ?? { key, row, rows: Array.from({ length: runs }, () => undefined), verdict: '' };
          one.rows[row.run] = row;
          one.row = row;
          cases.set(key, one);
        }
      }
      return [...cases.values()].map((one) => ({ ...one, verdict: runs > 1 ? changeOf(one) : one.row.state }));
    },
  };
}

/** @param {Case} one */
function changeOf({ rows: [first, last] }) {
  if (!first || !last || first.state === 'unjudged' || last.state === 'unjudged') return 'single';
  if (last.state === 'right') return first.state === 'right' ? 'kept' : 'won';
  return first.state === 'right' ? 'lost' : 'failed';
}

/** Unpacks gzip in base64. @param {string | undefined} block */
async function unpackLines(block = '') {
  const bytes = Uint8Array.from(atob(block), (sign) => sign.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return (await new Response(stream).text()).split('\n');
}

/** Unpacked blocks of a kind that stay in memory. */
const KEPT_BLOCKS = 8;

/** @param {readonly string[]} blocks */
function createReader(blocks) {
  const kept = /** @type {Map<number, Promise<string[]>>} */ (new Map());
  return async (/** @type {Place} */ [number, line]) => {
    const lines = kept.get(number) ?? unpackLines(blocks[number]);
    kept.delete(number);
    kept.set(number, lines);
    const [oldest] = kept.keys();
    if (kept.size > KEPT_BLOCKS && oldest !== undefined) kept.delete(oldest);
    return JSON.parse((await lines)[line] ?? 'null');
  };
}
