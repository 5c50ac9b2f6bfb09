/**
 * Requests that try to hold `winnow serve`: for each kind, how long one turn of its event loop takes, which is how long all
 * other requests wait. `node test/bench/pauses.mjs [repeats] [expression of kinds]`; ends with 1 above 250 ms. Needs `npm run build`.
 *
 * A turn counts by the processor or by the clock, whichever is less, so that a busy machine does not count; of the repeats
 * the quickest. `PAUSES_PROFILE=folder` writes a profile of the processor there.
 */
import { fork } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const MOST_MILLISECONDS = 250;
const CHARACTERS = 95_000;
const root = fileURLToPath(new URL('../..', import.meta.url));
const times = (count, make) => Array.from({ length: count }, (_, place) => make(place));
const fill = (part) => part.repeat(Math.floor(CHARACTERS / part.length));

/** In the process of the server, where this file is imported before all else. */
function watchTurns() {
  let [isOn, longest] = [false, 0];
  let before = { cpu: process.cpuUsage(), at: performance.now() };
  const turn = () => {
    const now = { cpu: process.cpuUsage(), at: performance.now() };
    const used = (now.cpu.user + now.cpu.system - before.cpu.user - before.cpu.system) / 1000;
    longest = Math.max(longest, Math.min(used, now.at - before.at));
    before = now;
    if (isOn) setImmediate(turn);
  };
  process.on('message', (what) => {
    if (what === 'begin') {
      [isOn, longest] = [true, 0];
      before = { cpu: process.cpuUsage(), at: performance.now() };
      setImmediate(turn);
    } else if (what === 'end') {
      isOn = false;
      setImmediate(() => process.send({ longest: Math.round(longest) }));
    }
  });
  // The channel alone keeps no server alive.
  process.channel.unref();
}

const MESSAGES = {
  a: 'a',
  'a ': 'a ',
  1: '1',
  '1-': '1-',
  '1.': '1.',
  '1,': '1,',
  date: '2026-01-02 ',
  slash: '1/2/',
  quote: '"a ',
  apostrophe: "'a ",
  cjk: '水库',
  'cjk quote': '“水',
  and: 'A and ',
  at: 'a@',
  mail: 'a@b.c ',
  url: 'http://',
  parenthesis: '(',
  brace: '{',
  reference: '${s1.',
  dot: '.',
  space: ' ',
  line: '\n',
  upper: 'Ab ',
  underscore: 'a_b_',
  phone: '+1 (555) ',
  dash: '-',
  comma: 'a,',
  surrogate: '\u{1f600}',
  combining: '\u0301',
  tick: '`a',
  'number words': 'one hundred and ',
  zero: '0',
  'tool names': 'tool_number_7 ',
  mixed: 'a1-b2_c3.d4/e5 ',
  colon: '12:',
  hex: 'deadbeef-',
  time: '12:30 pm tomorrow ',
  'days in German': 'übermorgen um 12:30 Uhr ',
  'days in Russian': 'завтра в 12:30 ',
  'days in Chinese': '明天下午三点',
  kana: '明日の午後',
  korean: '내일 오후 ',
};

/** Each kind -> its request; `n` is another number each time, so that nothing kept from before answers. */
function kinds() {
  const long = Object.entries(MESSAGES).map(([name, part]) => [name, `x${fill(part)}x`]);
  const many = (count, make) => Object.fromEntries(times(count, (place) => [`k${place}`, make(place)]));
  const names = times(60_000, (place) => `n${place}`);
  const own = (name, more) => (n) => ({
    path: '/v1/private-tools',
    body: { tool: { name: `${name}${n}`, toolType: 'skill', instructions: 'x', ...more } },
  });
  const properties = Object.fromEntries(times(15_000, (place) => [`prop_${place}_id`, { type: 'string' }]));
  const plain = (path, body) => (n, session) => ({
    path: path.replace('SESSION', session),
    body: typeof body === 'string' ? body : { message: `x${n}`, ...body },
  });
  const dry = (path) => (_n, session) => ({
    path: '/v1/plans/run',
    body: { session, dryRun: true, plan: { steps: [{ id: 's1', tool: 'file_read', arguments: { path } }] } },
  });
  const repeated = (part) => part.repeat(Math.floor(900_000 / part.length));
  return {
    ...Object.fromEntries(
      long.flatMap(([name, text]) => [
        [`select ${name}`, (n) => ({ path: '/v1/select', body: { message: `${n} ${text}` } })],
        [
          `plan ${name}`,
          (n) => ({
            path: '/v1/plan',
            body: { message: `${n} ${text}`, allow: ['file_read', 'file_delete', 'git_push', 'code_run'] },
          }),
        ],
      ]),
    ),
    ...Object.fromEntries(
      ['1', '1-', 'line', 'time', 'number words'].map((name) => [
        `plan 2,000 of ${name} in French`,
        (n) => ({
          path: '/v1/plan',
          body: { message: `${n} ${MESSAGES[name].repeat(1000).slice(0, 1990)} x`, locale: 'fr', allow: ['file_read'] },
        }),
      ]),
    ),
    'select other names each time': (n) => ({
      path: '/v1/select',
      body: { message: 'thing 7', deny: [`n${n}`, nameOf(n)] },
    }),
    'select entities at their bound': plain('/v1/select', { entities: many(200, () => '水1 '.repeat(75)) }),
    'select entities 1 MB': plain('/v1/select', { entities: many(20_000, () => 'v'.repeat(20)) }),
    'plan entities 1 MB': plain('/v1/plan', { entities: many(20_000, () => 'v'.repeat(20)), allow: ['file_read'] }),
    'select intent 900 kB': plain('/v1/select', { intent: repeated('a1 水') }),
    'select history 1 MB': plain('/v1/select', {
      history: times(5000, () => ({ role: 'user', content: 'y'.repeat(150) })),
    }),
    'select history of four long': plain('/v1/select', {
      history: times(4, () => ({ role: 'user', content: '水1 '.repeat(25_000) })),
    }),
    'plan history of four long': plain('/v1/plan', {
      history: times(4, () => ({ role: 'user', content: '12:30 pm tomorrow '.repeat(5_000) })),
      allow: ['file_read'],
    }),
    'body 250 levels deep': plain('/v1/select', `{"message":"x","entities":${'{"a":'.repeat(250)}1${'}'.repeat(250)}}`),
    'body too deep': plain(
      '/v1/select',
      `{"message":"x","entities":${'{"a":'.repeat(150_000)}1${'}'.repeat(150_000)}}`,
    ),
    'body with 90,000 unknown keys': plain(
      '/v1/select',
      many(90_000, () => 1),
    ),
    'select history of 100,000 wrong messages': plain('/v1/select', { history: times(100_000, () => 1) }),
    'select allow 60,000 names': plain('/v1/select', { allow: names }),
    'select deny 60,000 names': plain('/v1/select', { deny: names }),
    'select require 60,000 names': plain('/v1/select', { require: names }),
    'select brings 2,000 tools': plain('/v1/select', {
      tools: times(2000, (place) => ({
        name: `brought_${place}`,
        description: `thing ${place} of it`.repeat(8),
        inputSchema: { type: 'object', properties: { [`a${place}_id`]: { type: 'string' } } },
      })),
    }),
    'enable 64 long names': (n, session) => ({
      path: `/v1/sessions/${session}/enable`,
      body: { names: times(64, (place) => `tool_number_${n}${place}${'abcdefghij'.repeat(23)}`.slice(0, 256)) },
    }),
    'enable 64 real names': (_n, session) => ({
      path: `/v1/sessions/${session}/enable`,
      body: { names: times(64, nameOf) },
    }),
    'search 2,000 characters': (n, session) => ({
      path: `/v1/sessions/${session}/search`,
      body: { query: `${n} ${'tool number object thing '.repeat(79)}`, top_k: 50 },
    }),
    'search 2,000 of CJK': (n, session) => ({
      path: `/v1/sessions/${session}/search`,
      body: { query: `${n} ${'水库删除文件'.repeat(325)}`, top_k: 50 },
    }),
    'dryRun ${s1.a}': dry(repeated('${s1.a}')),
    'dryRun ${s1.': dry(repeated('${s1.')),
    'dryRun a': dry(repeated('a')),
    'dryRun 1,000 steps': (_n, session) => ({
      path: '/v1/plans/run',
      body: {
        session,
        dryRun: true,
        plan: {
          steps: times(1000, (place) => ({
            id: `s${place + 1}`,
            tool: 'file_read',
            arguments: { path: `\${s${place || 2}.x}` },
            dependsOn: times(Math.min(place, 100), (one) => `s${one + 1}`),
          })),
        },
      },
    }),
    'own tool with 900 kB': own('big', { instructions: 'x'.repeat(900_000) }),
    'own tool with all at their bound': own('bound', {
      description: '水库'.repeat(9_999),
      ...Object.fromEntries(
        ['keywords', 'aliases', 'examples'].map((field) => [field, times(99, () => '水库'.repeat(100))]),
      ),
    }),
    'own tool with 90,000 keywords': own('kw', { keywords: times(90_000, (place) => `k${place}`) }),
    'own tool with 3,000 aliases of 300': own('al', {
      aliases: times(3000, (place) => `alias ${place} ${'word '.repeat(50)}`),
    }),
    'own tool with 15,000 properties': own('pr', {
      inputSchema: { type: 'object', properties, required: Object.keys(properties) },
    }),
    'own tool with a description of 900 kB': own('de', { description: '水1 '.repeat(200_000) }),
    'list of all tools': (_n, session) => ({ path: `/v1/sessions/${session}/tools?mode=classic` }),
    'GET /v1/tools': () => ({ path: '/v1/tools' }),
  };
}

function nameOf(place) {
  return `tool_number_${place}_${'abcdefghij'.repeat(3)}_${place}`;
}

const MANY = times(2000, (place) => ({
  name: nameOf(place),
  description: `Does thing ${place} with object ${place % 37}`,
  toolType: 'builtin',
  category: `group ${place % 20}`,
  inputSchema: {
    type: 'object',
    properties: { [`key_${place}_id`]: { type: 'string' } },
    required: [`key_${place}_id`],
  },
}));
const RULES = {
  name: 'r',
  tools: [{ name: 'extra', description: 'x' }],
  rules: [
    { name: 'r1', when: { message: '(\\w+\\s*)+$' }, first: ['extra'] },
    { name: 'r2', when: { message: '^(.*,)*x' }, first: ['extra'] },
  ],
};

async function main() {
  const [repeats = '3', wanted = ''] = process.argv.slice(2);
  const folder = mkdtempSync(join(tmpdir(), 'winnow-pauses-'));
  const model = await startModel();
  const server = await startServer(folder, model.address().port);
  const { session } = await server
    .ask({ path: '/v1/sessions', body: {} })
    .then(({ text }) => JSON.parse(text))
    .then(({ id }) => ({ session: id }));
  const results = [];
  for (const [kind, request] of Object.entries(kinds())) {
    if (!new RegExp(wanted, 'u').test(kind)) continue;
    const runs = [];
    for (let repeat = 0; repeat < Number(repeats); repeat++) {
      server.child.send('begin');
      const { status } = await server.ask(request(repeat, session));
      runs.push({ longest: await server.longest(), status });
    }
    const longest = runs.map((run) => run.longest);
    const least = Math.min(...longest);
    results.push(least);
    const first = String(longest[0]).padStart(5);
    console.log(`${String(least).padStart(6)} ms, first ${first} ms  ${kind} (answered ${runs[0].status})`);
  }
  console.log(`longest pause ${Math.max(...results)} ms`);
  server.child.kill('SIGTERM');
  await new Promise((resolve) => server.child.once('exit', resolve));
  model.closeAllConnections();
  model.close();
  rmSync(folder, { recursive: true, force: true });
  process.exitCode = Math.max(...results) > MOST_MILLISECONDS ? 1 : 0;
}

/** Answers each call with two tools that exist, or with a plan of one step. */
async function startModel() {
  const plan = { kind: 'plan', steps: [{ id: 's1', tool: 'file_read', arguments: { path: 'a/1' } }] };
  const server = createServer((request, response) => {
    const chunks = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      const isSelection = Buffer.concat(chunks).includes('selected_tools');
      const content = JSON.stringify(isSelection ? { selected_tools: ['file_read', 'file_delete'], reason: '' } : plan);
      const choices = [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }];
      const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ id: 'x', object: 'chat.completion', created: 0, model: 'x', choices, usage }));
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

async function startServer(folder, modelPort) {
  writeFileSync(join(folder, 'many.json'), JSON.stringify(MANY));
  writeFileSync(join(folder, 'rules.json'), JSON.stringify(RULES));
  const catalog = [join(root, 'fixtures/catalogs/coding-agent.json'), 'many.json', 'rules.json'];
  const model = { baseUrl: `http://127.0.0.1:${modelPort}/v1`, name: 'fake', maxRetries: 0 };
  writeFileSync(join(folder, 'winnow.json'), JSON.stringify({ catalog, model }));
  const profile = process.env.PAUSES_PROFILE;
  const child = fork(join(root, 'dist/cli/main.js'), ['serve', '--config', 'winnow.json', '--port', '0', '--json'], {
    cwd: folder,
    env: { ...process.env, WINNOW_CACHE: join(folder, 'cache') },
    execArgv: ['--import', import.meta.url, ...(profile ? ['--cpu-prof', `--cpu-prof-dir=${profile}`] : [])],
    stdio: ['ignore', 'pipe', 'ignore', 'ipc'],
  });
  const address = await new Promise((resolve, reject) => {
    let said = '';
    child.once('exit', (code) => reject(new Error(`the server ended with ${code}`)));
    child.stdout.on('data', (data) => {
      said += data;
      const [, found] = /"address":"([^"]+)"/u.exec(said) ?? [];
      if (found) resolve(found);
    });
  });
  return {
    child,
    longest: () =>
      new Promise((resolve) => {
        child.once('message', ({ longest }) => resolve(longest));
        child.send('end');
      }),
    ask: async ({ path, body }) => {
      const sent =
        body === undefined ? {} : { method: 'POST', body: typeof body === 'string' ? body : JSON.stringify(body) };
      const headers = { 'content-type': 'application/json', 'x-winnow-user': 'mallory' };
      const response = await fetch(new URL(path, address), { ...sent, headers });
      return { status: response.status, text: await response.text() };
    },
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
else watchTurns();
