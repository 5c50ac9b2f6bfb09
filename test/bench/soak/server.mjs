/** `winnow serve` as a process of its own on one store file, and what the system says of it: memory, open descriptors. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';

const note = (name, risk, description) => ({
  name,
  toolType: 'builtin',
  risk,
  description,
  inputSchema: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
});
const TOOLS = [
  note('note_read', 'low', 'Reads one note.'),
  note('note_write', 'medium', 'Writes a note anew.'),
  note('note_delete', 'high', 'Deletes a note for ever.'),
  note('note_break', 'low', 'Always fails.'),
  ...Array.from({ length: 60 }, (_, n) => note(`note_kind_${n}`, 'low', `Lists the notes of the kind ${n}.`)),
];
const FUNCTIONS = `
export const note_read = ({ id }) => ({ id, text: 'x'.repeat(200) });
export const note_write = ({ id }) => ({ id });
export const note_delete = ({ id }) => ({ id, gone: true });
export const note_break = () => { throw new Error('it is broken'); };
`;
const PLAN = { kind: 'plan', steps: [{ id: 's1', tool: 'note_read', arguments: { id: 'a' } }] };
const SELECTION = { selected_tools: ['note_read', 'note_delete'], reason: '' };

/** Who may ask, with a token each. */
export const USERS = ['ann', 'ben', 'cleo', 'dan', 'eva', 'finn', 'mallory', 'trudy'];
export const OPERATOR = 'olga';
export const tokenOf = (user) => `the-token-of-${user}-for-the-soak`;

const HELD_MEMORY = ['--expose-gc', '--import', new URL('held-memory.mjs', import.meta.url).href];

/** Every tenth answer is none, so that what follows a failure of the model is walked, too. */
function startModel() {
  let asked = 0;
  const server = createHttpServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    asked += 1;
    const content = asked % 10 === 0 ? 'no' : JSON.stringify(body.includes('"name":"selection"') ? SELECTION : PLAN);
    const usage = { prompt_tokens: 1000, completion_tokens: 50, total_tokens: 1050 };
    const choices = [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }];
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ id: 'x', object: 'chat.completion', created: 0, model: 'scripted', choices, usage }));
  });
  server.listen(0, '127.0.0.1');
  return once(server, 'listening').then(() => server);
}

/** @returns the server, not started yet; its folder goes with `remove`. */
export async function createSoakServer() {
  const folder = mkdtempSync(join(tmpdir(), 'winnow-soak-'));
  const at = (name) => join(folder, name);
  const model = await startModel();
  const roles = (user) => (user === OPERATOR ? 'roles: [operator], ' : '');
  const tokens = [...USERS, OPERATOR].map((user) => `    - { user: ${user}, ${roles(user)}env: TOKEN_${user} }`);
  writeFileSync(at('tools.json'), JSON.stringify(TOOLS));
  writeFileSync(at('tools.mjs'), FUNCTIONS);
  writeFileSync(
    at('winnow.yaml'),
    `catalog: [tools.json]
model: { baseUrl: "http://127.0.0.1:${model.address().port}/v1", name: scripted, maxRetries: 0 }
store: soak.db
toolsModule: tools.mjs
logLevel: error
quotas: { sessions: 500 }
auth:
  tokens:
${tokens.join('\n')}
`,
  );
  const secrets = Object.fromEntries([...USERS, OPERATOR].map((user) => [`TOKEN_${user}`, tokenOf(user)]));
  const log = at('serve.log');
  const store = at('soak.db');
  const held = at('held-bytes');
  let child;
  let port = 0;

  async function start() {
    const words = ['serve', '--config', at('winnow.yaml'), '--port', String(port), '--json'];
    const errors = openSync(log, 'a');
    child = spawn(process.execPath, [...HELD_MEMORY, resolve('dist/cli/main.js'), ...words], {
      env: { ...process.env, ...secrets, WINNOW_CACHE: folder, HELD_MEMORY_FILE: held },
      stdio: ['ignore', 'pipe', errors],
    });
    closeSync(errors);
    for await (const line of createInterface({ input: child.stdout })) {
      port = Number(new URL(JSON.parse(line).address).port);
      return;
    }
    throw new Error(`The server does not start:\n${readFileSync(log, 'utf8')}`);
  }

  async function end(signal) {
    const ended = once(child, 'exit');
    child.kill(signal);
    const [code] = await ended;
    return code;
  }

  return {
    store,
    start,
    /** In the middle of whatever it does. */
    kill: () => end('SIGKILL'),
    /** @returns its exit code */
    stop: () => end('SIGTERM'),
    isRunning: () => child.exitCode === null && child.signalCode === null,
    url: () => `http://127.0.0.1:${port}`,
    port: () => port,
    log: () => readFileSync(log, 'utf8'),
    /** Memory held after garbage was collected, open descriptors, and the store with what was written ahead of it. */
    async sample() {
      rmSync(held, { force: true });
      child.kill('SIGUSR2');
      while (!existsSync(held) && child.exitCode === null) await wait(20);
      const sizes = ['', '-wal'].map((end) => statSync(store + end, { throwIfNoEntry: false })?.size ?? 0);
      return {
        megabytes: Number(readFileSync(held, 'utf8')) / 2 ** 20,
        descriptors: readdirSync(`/proc/${child.pid}/fd`).length,
        storeBytes: sizes.reduce((sum, size) => sum + size),
      };
    },
    remove() {
      if (child && child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
      model.close();
      model.closeAllConnections();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
