/**
 * `winnow serve` under load: plans at a fixed rate at 100 tools, with a model server that takes 50 ms for each answer.
 * What it prints: the server's own time (less that of the model), requests without an answer while the catalogue is read
 * again each second (SIGHUP) and at a stop (SIGTERM), and what memory is held after so many requests.
 *   npm run build && node test/bench/load.mjs [--rate 200] [--seconds 30] [--held 0]
 */
import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Agent, request } from 'undici';

const MODEL_MS = 50;
const BAR_MS = 60;
const TOOLS = Array.from({ length: 100 }, (_, number) => ({
  name: `note_kind_${number}`,
  toolType: 'builtin',
  risk: 'low',
  description: `Lists the notes of the kind ${number}, with their dates and authors.`,
  inputSchema: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
}));
const NAMES = [7, 8, 9].map((number) => `note_kind_${number}`);
const ANSWERS = {
  selection: { selected_tools: NAMES, reason: '' },
  plan: { kind: 'plan', steps: [{ id: 's1', tool: NAMES[0], arguments: { id: 'a' } }] },
};

function startModel() {
  const render = (answer) => {
    const choices = [
      { index: 0, message: { role: 'assistant', content: JSON.stringify(answer) }, finish_reason: 'stop' },
    ];
    const usage = { prompt_tokens: 1000, completion_tokens: 50, total_tokens: 1050 };
    return JSON.stringify({ id: 'c', object: 'chat.completion', created: 0, model: 'm', choices, usage });
  };
  const [selection, plan] = [render(ANSWERS.selection), render(ANSWERS.plan)];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    await wait(MODEL_MS);
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(body.includes('"name":"selection"') ? selection : plan);
  });
  server.keepAliveTimeout = 60_000;
  server.listen(0, '127.0.0.1', () => process.send(server.address().port));
  process.once('disconnect', () => process.exit());
}

async function startServer(folder, modelPort) {
  writeFileSync(join(folder, 'tools.json'), JSON.stringify(TOOLS));
  writeFileSync(join(folder, 'winnow.json'), JSON.stringify({ server: { concurrency: 512 }, logLevel: 'warn' }));
  const files = ['--catalog', join(folder, 'tools.json'), '--config', join(folder, 'winnow.json')];
  const model = ['--base-url', `http://127.0.0.1:${modelPort}/v1`, '--model', 'm'];
  const options = ['--set', 'passthroughTools=0', '--port', '0', '--json'];
  const words = ['--expose-gc', resolve('dist/cli/main.js'), 'serve', ...files, ...model, ...options];
  const env = { ...process.env, WINNOW_CACHE: folder, NODE_ENV: 'production' };
  const child = spawn(process.execPath, words, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = await once(createInterface({ input: child.stdout }), 'line');
  return { child, url: JSON.parse(line).address };
}

/** Of the process, in MB, as the system counts it. */
function memoryOf(pid) {
  const [, kilobytes] = /VmRSS:\s+(\d+)/u.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Math.round(Number(kilobytes) / 1024);
}

function createClient(url) {
  const dispatcher = new Agent({ connections: 256, pipelining: 1 });
  const outcomes = { planned: 0, refused: 0, wrong: 0, lost: 0, unreached: 0 };
  const own = [];
  const ask = async (number) => {
    const startedAt = performance.now();
    const body = JSON.stringify({ message: `List the notes of the kind 7, please: the ${number}th of them.` });
    try {
      const headers = { 'content-type': 'application/json' };
      const { statusCode, body: answer } = await request(`${url}/v1/plan`, {
        method: 'POST',
        dispatcher,
        headers,
        body,
      });
      const result = await answer.json();
      if (statusCode === 503) outcomes.refused += 1;
      else if (result.kind !== 'plan' || result.steps[0]?.tool !== NAMES[0]) outcomes.wrong += 1;
      else {
        outcomes.planned += 1;
        own.push(performance.now() - startedAt - 2 * MODEL_MS);
      }
    } catch (error) {
      // A server that has stopped takes no connection: nothing was asked of it.
      outcomes[error.code === 'ECONNREFUSED' ? 'unreached' : 'lost'] += 1;
    }
  };
  return { ask, own, outcomes, close: () => dispatcher.close() };
}

/** So many a second, whatever becomes of those before. */
async function askAtRate({ ask }, { rate, seconds }) {
  const begin = performance.now();
  const asked = [];
  for (let number = 0; number < rate * seconds; number++) {
    const due = begin + (number * 1_000) / rate;
    if (due > performance.now()) await wait(due - performance.now());
    asked.push(ask(number));
  }
  await Promise.all(asked);
}

/** As fast as so many clients are answered. */
async function askInTurn({ ask }, count, clients = 32) {
  let number = 0;
  await Promise.all(
    Array.from({ length: clients }, async () => {
      while (number++ < count) await ask(number);
    }),
  );
}

function quantile(values, part) {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))];
}

async function main() {
  const { values } = parseArgs({
    options: {
      rate: { type: 'string', default: '200' },
      seconds: { type: 'string', default: '30' },
      held: { type: 'string', default: '0' },
    },
  });
  const [rate, seconds, held] = [values.rate, values.seconds, values.held].map(Number);
  const folder = mkdtempSync(join(tmpdir(), 'winnow-load-'));
  const model = fork(fileURLToPath(import.meta.url), ['model']);
  const [port] = await once(model, 'message');
  const { child, url } = await startServer(folder, port);
  const print = (what, value) => console.log(`${what.padEnd(44)} ${value}`);
  try {
    await askInTurn(createClient(url), 500);

    const client = createClient(url);
    const reload = setInterval(() => child.kill('SIGHUP'), 1_000);
    await askAtRate(client, { rate, seconds });
    clearInterval(reload);
    const [middle, high] = [0.5, 0.99].map((part) => quantile(client.own, part).toFixed(1));
    print(`${rate} plans a second, own time p50, p99 (ms)`, `${middle}, ${high} (bar ${BAR_MS})`);
    print('outcomes, with SIGHUP each second', JSON.stringify(client.outcomes));
    await client.close();

    if (held > 0) {
      const growing = createClient(url);
      await askInTurn(growing, held / 2);
      const before = memoryOf(child.pid);
      await askInTurn(growing, held / 2);
      print(`memory after ${held / 2} and ${held} plans (MB)`, `${before}, ${memoryOf(child.pid)}`);
      await growing.close();
    }

    const last = createClient(url);
    const asking = askAtRate(last, { rate, seconds: 3 });
    await wait(1_500);
    child.kill('SIGTERM');
    await asking;
    print('outcomes, with SIGTERM after half of them', JSON.stringify(last.outcomes));
    if (client.outcomes.lost + client.outcomes.wrong + last.outcomes.lost + last.outcomes.wrong > 0)
      process.exitCode = 1;
  } finally {
    child.kill('SIGKILL');
    model.disconnect();
    rmSync(folder, { recursive: true });
  }
}

if (process.argv[2] === 'model') startModel();
else await main();
