/** The data within the page: the run, the index of all cases, and whole cases, of which only the opened are unpacked. */

/** @import { IndexBlock } from '../case-index.ts' */
/** @import { WholeCase } from '../whole-case.ts' */
/** @import { ReportRun } from '../report-run.ts' */

/** @returns {ReportRun} */
export function readRun() {
  return JSON.parse(document.getElementById('run-data')?.textContent ?? '');
}

/**
 * @param {string} text Gzip in base64.
 * @returns {Promise<string[]>}
 */
async function unpackLines(text) {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let place = 0; place < binary.length; place += 1) bytes[place] = binary.charCodeAt(place);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return (await new Response(stream).text()).split('\n');
}

/** @param {string} kind @returns {Element[]} */
const blocksOf = (kind) => [...document.querySelectorAll(`script[data-block="${kind}"]`)];

/** @returns {Promise<IndexBlock[]>} */
export async function readIndex() {
  /** @type {IndexBlock[]} */
  const blocks = [];
  for (const block of blocksOf('index')) {
    for (const line of await unpackLines(block.textContent ?? '')) blocks.push(JSON.parse(line));
  }
  return blocks;
}

/** How many unpacked blocks of a kind are kept. */
const KEPT_BLOCKS = 8;

/** @param {string} kind */
function createLineReader(kind) {
  const blocks = blocksOf(kind);
  /** @type {Map<number, Promise<string[]>>} */
  const kept = new Map();
  /** @param {[number, number]} place */
  return async ([number, line]) => {
    const lines = kept.get(number) ?? unpackLines(blocks[number]?.textContent ?? '');
    kept.delete(number);
    kept.set(number, lines);
    const oldest = kept.keys().next();
    if (kept.size > KEPT_BLOCKS && !oldest.done) kept.delete(oldest.value);
    return JSON.parse((await lines)[line] ?? 'null');
  };
}

/** @returns {{readCase(place: [number, number]): Promise<WholeCase>, readPrompt(place: [number, number]): Promise<string>}} */
export function createCaseReader() {
  return { readCase: createLineReader('cases'), readPrompt: createLineReader('prompts') };
}
