/** A measurement that is killed, as a process of its own, goes on: what the model has answered it is not asked again. */
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { type RecordedRequest, type ScriptedServer, startScriptedServer } from '../../support/scripted-server.js';
import { answer, hang } from '../../support/server-behaviours.js';
import type { Outcome } from './outcome.js';
import { aBenchmarkFolder, rightAnswer } from './setup.js';

jest.setTimeout(120_000);

const LOADER = pathToFileURL(resolve('test/support/typescript-loader.mjs')).href;
const COMMAND = resolve('test/bench/quality/command.ts');
const CONTESTANTS = 'winnow,langchain-shown,all-bound';
const KILLED_AT = 8;

let server: ScriptedServer;
let child: ChildProcess | undefined;
afterEach(async () => {
  child?.kill('SIGKILL');
  await server.close();
});

/** As the scripted model answers, over HTTP. */
function answerTo({ body }: RecordedRequest): string {
  const messages: { role: string; content: string }[] = JSON.parse(JSON.stringify(body.messages));
  const of = (role: string) => messages.find((message) => message.role === role)?.content ?? '';
  const schema = Object(body.response_format).json_schema;
  return rightAnswer({
    stage: 'selection',
    prompt: { system: of('system'), user: of('user') },
    maxTokens: 1,
    ...(schema ? { schema } : {}),
  });
}

function run(folder: string): { ended: Promise<{ exitCode: number | null; stdout: string }>; kill: () => void } {
  const words = ['--benchmarks', folder, '--out', join(folder, 'out'), '--sets', 'restbench,irrelevance'];
  const model = ['--base-url', server.baseUrl, '--model', 'm', '--contestants', CONTESTANTS];
  const env = { ...process.env, NODE_OPTIONS: '', WINNOW_CACHE: join(folder, 'cache') };
  const begun = spawn(process.execPath, ['--import', LOADER, COMMAND, ...words, ...model], { env });
  child = begun;
  let stdout = '';
  begun.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  begun.stderr.resume();
  const ended = new Promise<{ exitCode: number | null; stdout: string }>((done, fail) => {
    begun.on('error', fail);
    begun.on('close', (exitCode) => done({ exitCode, stdout }));
  });
  return { ended, kill: () => begun.kill('SIGKILL') };
}

const outcomesIn = (folder: string): Outcome[] =>
  JSON.parse(readFileSync(join(folder, 'out', 'quality.json'), 'utf8')).outcomes;
const judged = ({ set, contestant, id, status, tools, scores }: Outcome) => ({
  set,
  contestant,
  id,
  status,
  tools,
  scores,
});

describe('a measurement that is killed with -9', () => {
  it('goes on with the same command, asks nothing twice but what was under way, and ends as if nothing had been', async () => {
    let isHanging = true;
    server = await startScriptedServer((request, index) =>
      isHanging && index === KILLED_AT ? hang() : answer(answerTo(request)),
    );
    const folder = aBenchmarkFolder();
    const first = run(folder);
    await server.received(KILLED_AT + 1);
    first.kill();
    expect((await first.ended).exitCode).toBeNull();
    isHanging = false;
    const { exitCode, stdout } = await run(folder).ended;
    expect([exitCode, stdout]).toEqual([0, expect.stringContaining('**BFCL irrelevance**')]);
    const asked = server.requests.map(({ body }) => JSON.stringify(body));
    const cut = asked[KILLED_AT];
    const repeated = asked.filter((one, place) => asked.indexOf(one) !== place);
    expect(repeated).toEqual([cut]);

    const whole = aBenchmarkFolder();
    expect((await run(whole).ended).exitCode).toBe(0);
    expect(outcomesIn(folder).map(judged)).toEqual(outcomesIn(whole).map(judged));
    expect(outcomesIn(folder)).toHaveLength(3 * 12);
    expect(outcomesIn(folder).every(({ status }) => status === 'answered')).toBe(true);
  });
});
