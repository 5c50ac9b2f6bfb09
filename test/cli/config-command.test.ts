/** `winnow config print`: what is wrong is named before a server starts, and what holds is shown without a secret. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { temporaryFolder } from '../support/temporary-folder.js';
import { runHere } from './run-here.js';

const folder = temporaryFolder();
const SECRETS = {
  OWN_KEY: 'the-key-of-the-endpoint',
  HEADER_KEY: 'the-key-of-a-header',
  ANN_TOKEN: 'the-token-of-ann-1234',
  OTEL_EXPORTER_OTLP_ENDPOINT: 'http://me:word-of-otel@otel.example:4318',
  WINNOW_REDIS: 'rediss://me:word-of-redis@redis.example:6379/1',
  WINNOW_STORE: 'postgres://me:the-password@db.example/winnow?sslpassword=other-secret',
};
afterEach(() => {
  for (const name of Object.keys(SECRETS)) delete process.env[name];
});

function written(text: string): string {
  const file = join(folder, 'winnow.yaml');
  writeFileSync(file, text);
  return file;
}

const WHOLE = `
catalog: [tools.json]
model:
  baseUrl: https://model.example/v1
  name: large
  apiKeyEnv: OWN_KEY
  headers: { x-key: "Key \${HEADER_KEY}", x-plain: written-into-the-file }
options: { maxTools: 5 }
auth: { tokens: [{ env: ANN_TOKEN, user: ann }] }
tracing: { endpoint: "http://of-the-file.example:4318" }
`;

describe('winnow config print', () => {
  it('shows what holds, with defaults, flags and environment, and no secret', async () => {
    Object.assign(process.env, SECRETS);
    const words = ['config', 'print', '-c', written(WHOLE), '--model', 'larger', '--set', 'passthroughTools=3'];
    const { stdout, exitCode } = await runHere(words);
    expect(exitCode).toBe(0);
    expect(parse(stdout)).toMatchObject({
      catalog: [join(folder, 'tools.json')],
      model: {
        baseUrl: 'https://model.example/v1',
        name: 'larger',
        apiKeyEnv: expect.stringMatching(/^(OWN_KEY|WINNOW_API_KEY)$/u),
        headers: { 'x-key': 'Key ${HEADER_KEY}', 'x-plain': '[masked]' },
      },
      options: { maxTools: 5, passthroughTools: 3 },
      store: 'postgres://db.example/winnow',
      redis: 'rediss://redis.example:6379/1',
      tracing: { endpoint: 'http://otel.example:4318/' },
      auth: { tokens: [{ env: 'ANN_TOKEN', user: 'ann', roles: [] }] },
      server: { concurrency: 64 },
      retention: { answers: 1 },
      callLog: 'off',
    });
    const secrets = [
      ...Object.values(SECRETS).slice(0, 3),
      'word-of-redis',
      'word-of-otel',
      'the-password',
      'other-secret',
      'written-into-the-file',
    ];
    expect(secrets.filter((secret) => stdout.includes(secret))).toEqual([]);
    const asJson = await runHere([...words, '--json']);
    expect(JSON.parse(asJson.stdout)).toEqual(parse(stdout));
  });

  it('shows no key of a URL or a header, wherever it stands', async () => {
    const text = `
catalog: ["https://a.example/tools.json?key=KEY-1", "mcp:https://me:KEY-2@a.example/mcp#KEY-3", "http://me:KEY-4@a:99999/"]
model: { baseUrl: "https://model.example/v1?key=KEY-5", name: large }
planningModel: { baseUrl: "https://KEY-6@model.example/v1", name: large }
rerank: { enabled: true, model: { baseUrl: "https://model.example/v1?k=KEY-7", name: small, headers: { x-key: KEY-8 } } }
http: { servers: { "https://a.example/open.json?key=KEY-9": "https://b.example/?key=KEY-10" } }
store: "postgres://db.example/winnow?sslpassword=KEY-11"
`;
    const { stdout } = await runHere(['config', 'print', '-c', written(text)]);
    expect(stdout).not.toContain('KEY');
    expect(parse(stdout)).toMatchObject({
      catalog: ['https://a.example/tools.json', 'mcp:https://a.example/mcp', '[masked]'],
      model: { baseUrl: 'https://model.example/v1' },
      planningModel: { baseUrl: 'https://model.example/v1' },
      rerank: { model: { baseUrl: 'https://model.example/v1', headers: { 'x-key': '[masked]' } } },
      http: { servers: { 'https://a.example/open.json': 'https://b.example/' } },
      store: 'postgres://db.example/winnow',
    });
  });

  it('shows the defaults where there is no file', async () => {
    const { stdout } = await runHere(['config', 'print']);
    expect(parse(stdout)).toMatchObject({ options: { maxTools: 8 }, quotas: { sessions: 1_000 }, strict: false });
  });
});

describe('winnow config print refuses', () => {
  it.each([
    ['a misspelt key, with the nearest one', 'catalogs: [a]\n', 'nearest: "catalog"'],
    ['a misspelt key of a section', 'server: { concurency: 3 }\n', 'nearest: "concurrency"'],
    ['a secret that is not set', WHOLE, 'OWN_KEY is not set'],
    ['a token that is not set', 'auth: { tokens: [{ env: ANN_TOKEN, user: ann }] }\n', 'ANN_TOKEN is not set'],
    ['a policy that is not there', 'policy: none.yaml\n', 'none.yaml'],
    ['a prompt that is not there', 'prompts: { select-tools: none.md }\n', 'none.md'],
    ['a prompt of searches that is not there', 'prompts: { rerank-tools: none.md }\n', 'none.md'],
    ['synonyms that are not there', 'synonyms: none.json\n', 'none.json'],
    ['a module that is not there', 'toolsModule: none.mjs\n', 'toolsModule: there is no file'],
    ['a module for threads that is not there', 'workerModule: none.mjs\n', 'workerModule: there is no file'],
    [
      'a key of the second opinion that is not set',
      'rerank: { enabled: true, model: { baseUrl: "http://a.example/v1", name: m, apiKeyEnv: OWN_KEY } }\n',
      'rerank.model.apiKeyEnv: the environment variable OWN_KEY is not set',
    ],
    ['a value out of range', 'quotas: { sessions: 0 }\n', 'quotas.sessions'],
  ])('names %s', async (_, text, part) => {
    const { error, stdout, exitCode } = await runHere(['config', 'print', '-c', written(text)]);
    expect([Object(error).name, exitCode, stdout]).toEqual(['WinnowError', 2, '']);
    expect(String(error)).toContain(part);
  });

  it('names an option that is none', async () => {
    const { error } = await runHere(['config', 'print', '--set', 'bogus=1']);
    expect(error).toMatchObject({ code: 'invalid_option', message: expect.stringContaining('"bogus"') });
  });
});
