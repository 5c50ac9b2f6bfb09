/** Agents of other SDKs on a real Winnow over HTTP, with a scripted model: each sees three tools of many, and calls one. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { describe, expect, it } from '@jest/globals';
import OpenAI from 'openai';
import { NO_MODEL, serve } from '../cli/serve-setup.js';
import { type RecordedRequest, startScriptedServer } from '../support/scripted-server.js';
import { send } from '../support/server-behaviours.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { askByChat, askByResponses } from './openai-sdk.js';
import { askByAiSdk } from './vercel-ai-sdk.js';

const TASK = 'What is the water level of the Sauer?';
const INPUT = JSON.stringify({ station: 'Sauer' });
const ANSWER = 'It is 2.4 m high.';

const tool = (name: string, description: string) => ({
  ...{ name, description, toolType: 'builtin', risk: 'low' },
  inputSchema: { type: 'object', properties: { station: { type: 'string' } }, required: ['station'] },
});
const TOOLS = [
  tool('read_level', 'Water level of a station.'),
  ...Array.from({ length: 30 }, (_, place) => tool(`garden_${place}`, `Waters bed ${place} of the garden.`)),
];

const chat = (message: object) =>
  send(200, {
    ...{ id: 'c', object: 'chat.completion', created: 1, model: 'm' },
    choices: [{ index: 0, message: { role: 'assistant', content: null, ...message }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  });
const CHAT = [
  chat({ tool_calls: [{ id: 'call-1', type: 'function', function: { name: 'read_level', arguments: INPUT } }] }),
  chat({ content: ANSWER }),
];
const response = (item: object) =>
  send(200, { id: 'r', object: 'response', created_at: 1, model: 'm', status: 'completed', output: [item] });
const RESPONSES = [
  response({ type: 'function_call', id: 'f', call_id: 'call-1', name: 'read_level', arguments: INPUT }),
  response({ type: 'message', id: 'm', role: 'assistant', content: [{ type: 'output_text', text: ANSWER }] }),
];

const nameOf = (one: { name?: string; function?: { name: string } }) => one.function?.name ?? one.name;

describe('an agent of', () => {
  type Run = (baseUrl: string, winnow: string) => Promise<string>;
  const client = (baseURL: string) => new OpenAI({ baseURL, apiKey: 'none', maxRetries: 0 });
  it.each<[string, typeof CHAT, Run]>([
    ["OpenAI's SDK, by Chat", CHAT, (at, winnow) => askByChat({ client: client(at), model: 'm', winnow, task: TASK })],
    [
      "OpenAI's SDK, by Responses",
      RESPONSES,
      (at, winnow) => askByResponses({ client: client(at), model: 'm', winnow, task: TASK }),
    ],
    [
      "Vercel's AI SDK",
      CHAT,
      (baseURL, winnow) =>
        askByAiSdk({ model: createOpenAICompatible({ name: 'scripted', baseURL })('m'), winnow, task: TASK }),
    ],
  ])('%s sees the few tools for its task, and its call is answered', async (_, script, ask) => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'tools.json'), JSON.stringify(TOOLS));
    writeFileSync(join(folder, 'tools.mjs'), 'export const read_level = ({ station }) => ({ station, metres: 2.4 });');
    const files = ['--catalog', join(folder, 'tools.json'), '--tools-module', join(folder, 'tools.mjs')];
    const winnow = await serve(...NO_MODEL, ...files);
    const model = await startScriptedServer(script);
    expect(await ask(model.baseUrl, winnow.address)).toBe(ANSWER);
    model.assertDone();
    const [first, second] = model.requests as [RecordedRequest, RecordedRequest];
    const shown = Object(first.body).tools.map(nameOf);
    expect(shown).toContain('read_level');
    expect(shown.length).toBeLessThanOrEqual(4);
    expect(JSON.stringify(second.body)).toContain('2.4');
    await model.close();
    await winnow.stop();
  });
});
