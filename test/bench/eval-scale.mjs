/**
 * An evaluation with many cases: `winnow eval` as a process of its own against a scripted server, with its peak memory
 * at every 10,000 cases and at the end, and then how quick its page is in Chromium (`page-figures.mjs`).
 * `node test/bench/eval-scale.mjs [CASES] [--minutes N] [--queue URL] [--heap MB]`, 100,000 cases unless told; after the
 * minutes the run is interrupted, and what is done is told. With a queue, a worker is started, too.
 * Without a heap Node lets garbage lie where there is room: with one it is seen how little must be kept.
 */
import { spawn } from 'node:child_process';
import {
  createReadStream,
  createWriteStream,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { minutes: { type: 'string', default: '60' }, queue: { type: 'string' }, heap: { type: 'string' } },
});
const total = Number(positionals[0] ?? 100_000);
const MARK_MS = 20_000;
const TOOLS = 30;
const folder = mkdtempSync(join(tmpdir(), 'winnow-scale-'));
const out = join(folder, 'run');

const tools = Array.from({ length: TOOLS }, (_, place) => ({
  name: `tool_${place}`,
  toolType: 'builtin',
  description: `Reads the value number ${place} of the plant.`,
  inputSchema: { type: 'object', properties: { x: { type: 'string' } } },
}));

async function writeSet() {
  writeFileSync(join(folder, 'set.tools.json'), JSON.stringify(tools));
  const file = createWriteStream(join(folder, 'set.cases.jsonl'));
  for (let place = 0; place < total; place++) {
    const one = {
      id: `c${place}`,
      query: `Please read value number ${place}`,
      expectedTools: [`tool_${place % TOOLS}`],
    };
    if (!file.write(`${JSON.stringify(one)}\n`)) await new Promise((done) => file.once('drain', done));
  }
  await new Promise((done) => file.end(done));
}

/** Keeps nothing of what it is asked: the scripted server of the tests would grow by itself. */
async function startServer() {
  const server = createServer(async (incoming, response) => {
    let body = '';
    for await (const part of incoming) body += part;
    const place = Number(/read value number (\d+)/u.exec(body)?.[1] ?? 0);
    const content = JSON.stringify({ selected_tools: [`tool_${place % TOOLS}`], reason: 'r' });
    const choices = [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }];
    const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ id: 'chat-1', object: 'chat.completion', choices, usage }));
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  return { server, baseUrl: `http://127.0.0.1:${server.address().port}/v1` };
}

const LOADER = pathToFileURL(resolve('test/support/typescript-loader.mjs')).href;
const MAIN = resolve('src/cli/main.ts');
const { NODE_OPTIONS: _, ...env } = process.env;

function begin(words) {
  const heap = values.heap === undefined ? [] : [`--max-old-space-size=${values.heap}`];
  return spawn(process.execPath, [...heap, '--import', LOADER, MAIN, ...words], {
    env: { ...env, WINNOW_CACHE: join(folder, 'cache') },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}

async function measurePage(file) {
  const script = resolve('test/bench/page-figures.mjs');
  const measuring = spawn(process.execPath, ['--import', LOADER, script, file], { env, stdio: 'inherit' });
  await new Promise((done) => measuring.once('exit', done));
}

/** Peak and present memory of a process in MB, where the system tells them. */
function memoryOf({ pid }) {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const read = (name) => Math.round(Number(new RegExp(`${name}:\\s+(\\d+)`, 'u').exec(status)?.[1]) / 1_024);
    // A process that has just ended has a status, and no memory in it.
    return status.includes('VmHWM') ? { peak: read('VmHWM'), now: read('VmRSS') } : undefined;
  } catch {
    return undefined;
  }
}

async function linesIn(file) {
  let lines = 0;
  for await (const _line of createInterface({ input: createReadStream(file) })) lines += 1;
  return lines;
}

const bytesIn = (file) => {
  try {
    return statSync(file).size;
  } catch {
    return 0;
  }
};
const say = (text) => process.stdout.write(`${text}\n`);

await writeSet();
const { server, baseUrl } = await startServer();
const suite = ['--suite', join(folder, 'set')];
const model = ['--base-url', baseUrl, '--model', 'm'];
const queue = values.queue === undefined ? [] : ['--queue', values.queue];
const worker = queue.length > 0 ? begin(['worker', ...suite, ...model, ...queue, '-j', '8']) : undefined;
const where = queue.length > 0 ? queue : [...model, '-j', '8', '--no-cache'];
const options = ['--only', 'select', '--set', 'passthroughTools=0,fillTokens=0'];
const startedAt = performance.now();
const run = begin(['eval', ...suite, ...where, ...options, '--out', out]);
const ended = new Promise((done) => run.once('exit', done));
const limit = setTimeout(() => run.kill('SIGINT'), Number(values.minutes) * 60_000);
let last;
let told = 0;
const watch = setInterval(() => {
  last = memoryOf(run) ?? last;
  const marks = Math.floor((performance.now() - startedAt) / MARK_MS);
  if (marks <= told || !last) return;
  told = marks;
  const kept = (bytesIn(join(out, 'run.db')) / 1e6).toFixed(1);
  say(`after ${(marks * MARK_MS) / 1_000} s: ${kept} MB are kept; peak ${last.peak} MB, now ${last.now} MB`);
}, 250);
const exitCode = await ended;
clearInterval(watch);
clearTimeout(limit);
const seconds = (performance.now() - startedAt) / 1_000;
const done = await linesIn(join(out, 'cases.jsonl'));
say(
  `${done} of ${total} cases in ${seconds.toFixed(0)} s (exit code ${exitCode}): peak ${last?.peak} MB with the report`,
);
for (const name of ['run.db', 'cases.jsonl', 'report.html'])
  say(`${name}: ${(bytesIn(join(out, name)) / 1e6).toFixed(1)} MB`);
if (worker) {
  say(`worker: peak ${memoryOf(worker)?.peak} MB`);
  worker.kill('SIGTERM');
  await new Promise((closed) => worker.once('exit', closed));
}
server.close();
server.closeAllConnections();
await measurePage(join(out, 'report.html'));
rmSync(folder, { recursive: true, force: true });
