/**
 * Selection among the 527 tools of LiveMCPBench (70 servers), with a real model: recall of the tools that an annotated task
 * needs, among 5 and among 8. Both files are of its repository: `tools/LiveMCPTool/tools.json` and
 * `annotated_data/all_annotations.json` (https://github.com/icip-cas/LiveMCPBench).
 *
 *   npm run build && node test/bench/livemcpbench.mjs --tools FILE --tasks FILE [--half learn|measure|all] [--cases 20]
 *     [--options '{"maxTools":8}'] [--out FILE.jsonl] [--base-url URL --model NAME]
 *
 * A server's name is the tool's category. A task that names a tool which several servers have is served by any of them.
 */
import { appendFileSync, readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { createCatalog } from '../../dist/core/catalog/catalog.js';
import { parseTool } from '../../dist/core/catalog/tool.js';
import { createModel, createPlanner } from '../../dist/index.js';
import { halfOf, renderMean } from './halves.mjs';

const { values: flags } = parseArgs({
  options: {
    tools: { type: 'string' },
    tasks: { type: 'string' },
    half: { type: 'string', default: 'all' },
    cases: { type: 'string' },
    options: { type: 'string', default: '{}' },
    out: { type: 'string' },
    'base-url': { type: 'string' },
    model: { type: 'string' },
  },
});
if (!flags.tools || !flags.tasks) throw new Error('Name both files of LiveMCPBench: --tools FILE --tasks FILE.');
const DAY_IN_MS = 86_400_000;
const READ_AMONG = [5, 8];

/** Tools with unique names: where several servers have one of a name, each has its server's name in front. */
function readTools(file) {
  const servers = JSON.parse(readFileSync(file, 'utf8')).flatMap((entry) => Object.entries(entry.tools));
  const all = servers.flatMap(([server, { tools }]) => tools.map((tool) => ({ server, tool })));
  const counts = new Map();
  for (const { tool } of all) counts.set(tool.name, (counts.get(tool.name) ?? 0) + 1);
  return all.map(({ server, tool }, index) => {
    const { name, description: told, inputSchema } = tool;
    const description = told ?? '';
    const unique = counts.get(name) === 1 ? name : `${server}__${name}`;
    const parsed = parseTool({ name: unique, description, inputSchema, category: server }, { origin: 'live', index });
    if (!parsed.ok) throw new Error(`${unique}: ${parsed.issues[0]?.message}`);
    return { said: name, tool: parsed.tool };
  });
}

/** Each task with the names that serve each tool that it needs; tools that the file of tools lacks are left out. */
function readTasks(file, tools) {
  const tasks = JSON.parse(readFileSync(file, 'utf8')).map((task) => {
    const lines = task['Annotator Metadata'].Tools.split('\n').map((line) => line.replace(/^\s*\d*\.?\s*/u, '').trim());
    const needed = lines.map((name) => tools.filter(({ said }) => said === name).map(({ tool }) => tool.name));
    return { id: task.task_id, message: task.Question, needed: needed.filter(({ length }) => length > 0) };
  });
  const isWanted = ({ id, needed }) => needed.length > 0 && (flags.half === 'all' || halfOf(id) === flags.half);
  return tasks.filter(isWanted).slice(0, flags.cases === undefined ? undefined : Number(flags.cases));
}

const tools = readTools(flags.tools);
const tasks = readTasks(flags.tasks, tools);
const catalog = createCatalog(
  tools.map(({ tool }) => tool),
  { name: 'livemcpbench' },
);
const model = await createModel({ baseUrl: flags['base-url'], model: flags.model });
const options = { timeoutMs: DAY_IN_MS, ...JSON.parse(flags.options) };
const planner = createPlanner({ catalog, model, options });
const recalls = READ_AMONG.map(() => []);
for (const { id, message, needed } of tasks) {
  const start = performance.now();
  const selection = await planner.select({ message });
  const seconds = Number(((performance.now() - start) / 1000).toFixed(1));
  // Fill stands behind what was chosen.
  const names = selection.tools.map(({ name }) => name);
  const found = READ_AMONG.map((count) => {
    const first = names.slice(0, count);
    return needed.filter((served) => served.some((name) => first.includes(name))).length / needed.length;
  });
  for (const [place, recall] of found.entries()) recalls[place].push(recall);
  console.error(`${id} ${found.map((recall) => recall.toFixed(2)).join(' ')} ${seconds} s`);
  if (flags.out) appendFileSync(flags.out, `${JSON.stringify({ id, names, needed, found, seconds })}\n`);
}

for (const [place, values] of recalls.entries()) {
  console.log(`recall of the needed tools among ${READ_AMONG[place]}: ${renderMean(values)}, ${values.length} tasks`);
}
await model.close();
