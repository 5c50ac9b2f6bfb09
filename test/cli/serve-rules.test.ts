/** Rules kept on a running `winnow serve`: they count at once over HTTP and MCP, and after a restart. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { openClient } from '../mcp/setup.js';
import { type ScriptedServer, startScriptedServer } from '../support/scripted-server.js';
import { answerJson } from '../support/server-behaviours.js';
import { serve } from './serve-setup.js';

// The first test of a run loads the model client.
jest.setTimeout(60_000);

const OPERATOR = { 'x-winnow-user': 'olga', 'x-winnow-roles': 'operator' };
const ASKED = { message: 'Say hello' };
const tool = (name: string, description: string) => ({ name, toolType: 'builtin', risk: 'low', description });

let folder: string;
let model: ScriptedServer;
const at = (name: string) => join(folder, name);
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'winnow-rules-'));
  await writeFile(at('tools.json'), JSON.stringify([tool('greet', 'Greets.'), tool('bow', 'Bows deeply.')]));
  model = await startScriptedServer(() => answerJson({ selected_tools: ['greet'], reason: 'it greets' }));
});
afterAll(async () => {
  await model.close();
  await rm(folder, { recursive: true });
});

const open = () =>
  serve(
    ...['--catalog', at('tools.json'), '--store', at('agents.db'), '--base-url', model.baseUrl, '--model', 'm'],
    ...['passthroughTools=0', 'fillTokens=0'].flatMap((option) => ['--set', option]),
  );
const namesOf = ({ tools }: { tools: { name: string }[] }) => tools.map(({ name }) => name);

it('count at once, over HTTP and MCP and after a restart, and what is wrong with one is told once', async () => {
  const first = await open();
  const select = async (server: typeof first) => namesOf(await server.ask('POST /v1/select', ASKED));
  const { client, ask } = await openClient(new StreamableHTTPClientTransport(new URL(`${first.address}/mcp`)));
  expect([await select(first), namesOf(await ask('select', ASKED))]).toEqual([['greet'], ['greet']]);
  const rule = { when: { message: 'hello' }, first: ['bow', 'ghost'] };
  const put = await first.ask('PUT /v1/rules/bow-first', rule, OPERATOR);
  expect(put).toMatchObject({ name: 'bow-first', unknownTools: ['ghost'] });
  expect([await select(first), namesOf(await ask('select', ASKED))]).toEqual([
    ['bow', 'greet'],
    ['bow', 'greet'],
  ]);
  await client.close();
  await first.stop();

  const second = await open();
  expect(await select(second)).toEqual(['bow', 'greet']);
  const told = (server: typeof first) => server.log.lines().filter(({ entry }) => entry === 'kept rule');
  for (const server of [first, second])
    expect(told(server)).toMatchObject([
      { level: 'warn', msg: 'kept rule bow-first: no tool of the system is named "ghost"' },
    ]);
  await second.ask('DELETE /v1/rules/bow-first', undefined, OPERATOR);
  expect(await select(second)).toEqual(['greet']);
  await second.stop();
});
