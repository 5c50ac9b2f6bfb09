/**
 * How many tokens of schemas are loaded against all that are visible, when the model names the right tools: over the
 * cases of the three catalogues in `fixtures/`, and over thirty requests to 39 public MCP servers.
 *
 *   node test/bench/schema-tokens.mjs [--out FILE]
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { createCatalog, createPlanner, loadCatalog } from '../../dist/index.js';
import { realTools, whereReal } from './bench-catalogs.mjs';
import { REAL_MCP_REQUESTS } from './real-mcp-requests.mjs';
import { createListModel } from './scripted-list-model.mjs';
import { median, renderNumber, renderTable } from './statistics.mjs';

const { values: flags } = parseArgs({ options: { out: { type: 'string' } } });
const FIXTURES = ['assistant', 'hydrology', 'coding-agent'];
const fixture = (path) => fileURLToPath(new URL(`../../fixtures/${path}`, import.meta.url));

const results = [];
for (const name of FIXTURES) {
  const { catalog } = await loadCatalog({ sources: [fixture(`catalogs/${name}.json`)] });
  const lines = readFileSync(fixture(`cases/${name}.jsonl`), 'utf8')
    .trim()
    .split('\n');
  results.push(await measure(name, catalog, lines.map(readCase)));
}
const real = realTools();
if (real) {
  const cases = REAL_MCP_REQUESTS.map(({ message, names }) => ({ request: { message }, names }));
  results.push(await measure('realmcp', createCatalog(real), cases));
} else console.error(`The real catalogue is skipped: ${whereReal}.`);
if (flags.out) writeFileSync(flags.out, `${JSON.stringify(results, null, 2)}\n`);
console.log(render(results));

function readCase(line) {
  const { query, intent, entities, history, user, today, expectedTools } = JSON.parse(line);
  const request = { message: query, intent, entities, history, user, today };
  return { request, names: expectedTools };
}

async function measure(name, catalog, cases) {
  const answer = { names: [] };
  const planner = createPlanner({ catalog, model: createListModel(answer) });
  const rows = [];
  for (const { request, names } of cases) {
    answer.names = names;
    const { tools, usage, trace } = await planner.select(request);
    const there = names.filter((wanted) => tools.some((tool) => tool.name === wanted)).length;
    const rung = trace.find((event) => event.stage === 'summaries')?.rung;
    rows.push({ ...usage.schemaTokens, tools: tools.length, wanted: names.length, there, rung });
  }
  return { name, tools: catalog.tools.length, rows };
}

function render(all) {
  const rows = all.map(({ name, tools, rows: cases }) => {
    const middle = (pick) => median(cases.map(pick));
    const sum = (pick) => cases.reduce((total, one) => total + pick(one), 0);
    const less = middle(({ all: visible, loaded }) => 1 - loaded / visible);
    const counts = [
      tools,
      cases.length,
      middle((one) => one.all),
      middle((one) => one.loaded),
      Math.max(...cases.map((one) => one.loaded)),
    ];
    const there = sum((one) => one.there) / sum((one) => one.wanted);
    return [
      name,
      ...counts.map(renderNumber),
      `${(less * 100).toFixed(1)} %`,
      there.toFixed(3),
      [...new Set(cases.map((one) => one.rung ?? 'none'))].join(', '),
    ];
  });
  const head = [
    'catalogue',
    'tools',
    'requests',
    'all schemas, tokens',
    'loaded (median)',
    'loaded (most)',
    'less',
    'needed tools there',
    'summaries',
  ];
  return `Tokens of schemas, when the model names the right tools\n\n${renderTable(head, rows)}`;
}
