/**
 * How well the scan of tools tells attacks from descriptions: precision and recall on public corpora, and its false alarms
 * among the tools of real MCP servers. The halves are by hash of the id: `learn` was looked at while the phrases were written.
 *
 *   npm run build && node test/bench/scan.mjs [--corpora FOLDER] [--half learn|measure] [--show]
 *
 * FOLDER holds clones of smart-mcp-proxy/mcpproxy-go, cisco-ai-defense/mcp-scanner and microsoft/agent-governance-toolkit,
 * under these names; one that is missing is skipped. The real tools are those of `realmcp.tools.json` among the benchmarks.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createScan, scanTools } from '../../dist/core/catalog/scan.js';
import { parseTool } from '../../dist/core/catalog/tool.js';
import { halfOf, renderMean } from './halves.mjs';
import { renderTable } from './statistics.mjs';

const { values: flags } = parseArgs({
  options: { corpora: { type: 'string' }, half: { type: 'string' }, show: { type: 'boolean', default: false } },
});
const benchmarks = process.env.WINNOW_BENCHMARKS ?? '../shared/benchmarks';

function toTool({ name, description, server, inputSchema }, index = 0) {
  const own = String(name).split('__').at(-1);
  const metadata = server === undefined ? {} : { mcp: { server, tool: own } };
  const parsed = parseTool({ name, description, server, inputSchema, metadata }, { origin: 'corpus', index });
  if (!parsed.ok) throw new Error(`${name}: ${parsed.issues[0]?.message}`);
  return parsed.tool;
}

const read = (...path) => readFileSync(join(...path), 'utf8');
const readJson = (...path) => JSON.parse(read(...path));

/** Cases of a folder: `{id, isAttack, kind, tool, peers}`; the corpora of mcpproxy-go. */
function readMcpproxy(folder, file) {
  const { entries } = readJson(folder, 'mcpproxy-go/specs/065-evaluation-foundation/datasets', file);
  return entries.map(({ id, label, category, tool, server, description, peers = [] }) => ({
    id,
    isAttack: label === 'malicious',
    kind: category,
    tool: toTool({ name: 'a_tool', ...tool, description: tool?.description ?? description, server: server ?? 'one' }),
    peers: peers.map((peer) => toTool({ ...peer.tool, server: peer.server })),
  }));
}

function readGovernance(folder) {
  const lines = read(folder, 'agent-governance-toolkit/benchmarks/prompt-injection/corpus/injection-smoke.jsonl');
  return lines
    .trim()
    .split('\n')
    .map((line) => {
      const { id, text, attack_class: attack, bypass_class: bypass } = JSON.parse(line);
      const isAttack = attack !== 'benign';
      const tool = toTool({ name: 'a_tool', description: text, server: 'one' });
      return { id, isAttack, kind: isAttack ? `attack, ${bypass}` : 'benign', tool, peers: [] };
    });
}

/** Tools by their decorator and docstring: what a client of the server is shown. */
const PYTHON_TOOL =
  /^@\w+\.tool\([^\n]*\)\n(?:async )?def (?<name>\w+)\([\s\S]{0,2000}?:\n\s+"""(?<text>[\s\S]*?)"""/gmu;

function readScanner(folder) {
  const evals = join(folder, 'mcp-scanner/evals');
  const groups = ['behavioral-analysis/data', 'remote'].flatMap((part) =>
    readdirSync(join(evals, part)).map((group) => [group, join(evals, part, group)]),
  );
  return groups.flatMap(([group, path]) =>
    readdirSync(path)
      .filter((file) => file.endsWith('.py'))
      .flatMap((file) =>
        [...read(path, file).matchAll(PYTHON_TOOL)].map(({ groups: { name, text } }) => ({
          id: `${group}/${file}/${name}`,
          isAttack: group !== 'benign',
          kind: group,
          tool: toTool({ name, description: text.trim(), server: 'one' }),
          peers: [],
        })),
      ),
  );
}

const CORPORA = [
  ['mcpproxy-go, detect', 'mcpproxy-go', (folder) => readMcpproxy(folder, 'detect_corpus_v1.json')],
  ['mcpproxy-go, security', 'mcpproxy-go', (folder) => readMcpproxy(folder, 'security_corpus_v1.json')],
  ['agent-governance-toolkit, smoke set', 'agent-governance-toolkit', readGovernance],
  ['mcp-scanner, evals', 'mcp-scanner', readScanner],
];

function measure(cases) {
  const judged = cases.map((one) => ({
    ...one,
    flags: createScan([one.tool, ...one.peers])(one.tool),
  }));
  if (flags.show)
    for (const { id, isAttack, kind, tool, flags: found } of judged)
      if (found.length > 0 !== isAttack)
        console.error(
          `${isAttack ? 'missed' : 'false alarm'} ${id} (${kind}): ${tool.description.slice(0, 200)} ${JSON.stringify(found)}`,
        );
  const hit = judged.filter(({ flags: found }) => found.length > 0);
  const attacks = judged.filter(({ isAttack }) => isAttack);
  const mean = (list, is) =>
    list.length === 0 ? '-' : `${renderMean(list.map((one) => Number(is(one))))}, n ${list.length}`;
  const kinds = [...new Set(attacks.map(({ kind }) => kind))];
  return {
    precision: mean(hit, ({ isAttack }) => isAttack),
    recall: mean(attacks, ({ flags: found }) => found.length > 0),
    alarms: mean(
      judged.filter(({ isAttack }) => !isAttack),
      ({ flags: found }) => found.length > 0,
    ),
    kinds: kinds.map((kind) => {
      const own = attacks.filter((one) => one.kind === kind);
      return `${kind} ${own.filter(({ flags: found }) => found.length > 0).length} of ${own.length}`;
    }),
  };
}

const rows = [];
for (const [title, folder, load] of CORPORA) {
  if (flags.corpora === undefined || !existsSync(join(flags.corpora, folder))) {
    console.log(`skipped: ${title} (no clone of ${folder} in the folder of --corpora)`);
    continue;
  }
  const cases = load(flags.corpora);
  for (const half of ['learn', 'measure'].filter((one) => one === (flags.half ?? one))) {
    const { precision, recall, alarms, kinds } = measure(cases.filter(({ id }) => halfOf(id) === half));
    rows.push([`${title}, ${half}`, precision, recall, alarms]);
    console.log(`${title}, ${half}: ${kinds.join('; ')}`);
  }
}
if (rows.length > 0) console.log(`\n${renderTable(['corpus', 'precision', 'recall', 'false alarms'], rows)}`);

const real = join(benchmarks, 'realmcp.tools.json');
if (!existsSync(real)) console.log(`skipped: real tools (no ${real})`);
else {
  const tools = readJson(real).map(toTool);
  const start = performance.now();
  const found = scanTools(tools);
  const ms = performance.now() - start;
  console.log(
    `\n${tools.length} real tools: ${found.length} flagged (${((100 * found.length) / tools.length).toFixed(2)} %), ${ms.toFixed(0)} ms`,
  );
  for (const { tool, flags: own } of found)
    console.log(
      `- ${tool.name}: ${own.map(({ kind, where, reason, excerpt }) => `${kind} in ${where}: ${reason} (${excerpt.slice(0, flags.show ? 120 : 60)})`).join('; ')}`,
    );
}
