/**
 * Selection by several ways on named sets: recall of the needed tools among `--max-tools`, and how often all are there. Every
 * case becomes one line of `--out`; `--resume` goes on behind the last one.
 *
 *   npm run build && node test/bench/selection.mjs --set restbench --set metatool [--selector winnow --selector keywords]
 *     [--half learn|measure|all] [--cases 40] [--seed 1] [--max-tools 8] [--out FILE.jsonl] [--resume]
 *     [--benchmarks FOLDER] [--model-file FILE | --base-url URL --model NAME]
 *
 * Selectors: `winnow`, `winnow-list`, `winnow-no-STAGE`, `keywords`, `bm25`, `langchain`, `langchain-shown`,
 * `langchain-described`. Those by keywords open no model.
 */
import { appendFileSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { scoreSelection } from '../../dist/eval/selection-scores.js';
import { renderMean } from './halves.mjs';
import { isSearch, selectorOf } from './selectors.mjs';
import { openCatalog, openModel, openSet, SET_FLAGS } from './sets.mjs';
import { median, renderNumber, renderTable } from './statistics.mjs';

const { values: flags } = parseArgs({
  options: {
    ...SET_FLAGS,
    selector: { type: 'string', multiple: true, default: ['winnow'] },
    'max-tools': { type: 'string', default: '8' },
    out: { type: 'string' },
    resume: { type: 'boolean', default: false },
  },
});
const ids = flags.selector;
const ways = new Map(ids.map((id) => [id, selectorOf(id)]));
const model = ids.every(isSearch) ? undefined : await openModel(flags);
const maxTools = Number(flags['max-tools']);

if (flags.out && !flags.resume) rmSync(flags.out, { force: true });
const written = flags.out && existsSync(flags.out) ? readFileSync(flags.out, 'utf8').trim().split('\n') : [];
const keyOf = ({ set, selector, id }) => `${set} ${selector} ${id}`;
const lines = new Map(written.filter(Boolean).map((text) => [keyOf(JSON.parse(text)), JSON.parse(text)]));

const made = new Map();
/** One selector a catalogue: what it keeps of the tools is kept for all its cases. */
async function selectWith(selector, file) {
  const key = `${selector} ${file}`;
  const { catalog, viewOf } = await openCatalog(file);
  if (!made.has(key)) made.set(key, ways.get(selector)(catalog, { model, maxTools }));
  return { select: made.get(key), viewOf };
}

async function measure({ name: set, offerOf }, selector, one) {
  const { select, viewOf } = await selectWith(selector, one.catalogFile);
  const request = { ...one.request, ...offerOf(one, viewOf(one.request)) };
  const start = performance.now();
  const names = await select(request);
  const seconds = Number(((performance.now() - start) / 1000).toFixed(2));
  const tools = names.map((name) => ({ name, via: 'model' }));
  const { recall, allNeeded } = scoreSelection(one.expected, {
    mode: 'selected',
    reason: '',
    tools,
    dropped: [],
    leftOut: 0,
  });
  return { set, selector, id: one.id, names, expected: one.expected.tools, recall, allNeeded, seconds };
}

const rows = [];
for (const setName of flags.set ?? ['restbench', 'metatool']) {
  const set = openSet(setName, flags);
  for (const selector of set ? ids : []) {
    const found = [];
    for (const one of set.cases.filter(({ expected }) => expected.tools.length > 0)) {
      const known = lines.get(keyOf({ set: setName, selector, id: one.id }));
      const line = known ?? (await measure(set, selector, one));
      found.push(line);
      if (known) continue;
      if (flags.out) appendFileSync(flags.out, `${JSON.stringify(line)}\n`);
      if (model) console.error(`${keyOf(line)} ${line.recall.toFixed(2)} ${line.seconds} s`);
    }
    const mean = (key) => renderMean(found.map((line) => line[key]));
    const seconds = found.length > 0 ? renderNumber(median(found.map((line) => line.seconds))) : '';
    rows.push([setName, selector, found.length, mean('recall'), mean('allNeeded'), seconds]);
  }
}
console.log(renderTable(['set', 'selector', 'n', `recall among ${maxTools}`, 'all there', 's'], rows));
await model?.close();
process.exit();
