/** Agents of other SDKs on a real Winnow over HTTP, with a scripted model: each sees three tools of many, and calls one. */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { NO_MODEL } from '../cli/serve-setup.js';
import { type RecordedRequest, startScriptedServer } from '../support/scripted-server.js';
import { send } from '../support/server-behaviours.js';
import { askByChat, askByResponses } from './openai-sdk.js';
import { ANSWER, chat, chatCall, serveTools, TASK } from './setup.js';
import { askByAiSdk } from './vercel-ai-sdk.js';

const INPUT = { station: 'Sauer' };
const CHAT = [chatCall('read_level', INPUT), chat({ content: ANSWER })];
const response = (item: object) =>
  send(200, { id: 'r', object: 'response', created_at: 1, model: 'm', status: 'completed', output: [item] });
const RESPONSES = [
  response({ type: 'function_call', id: 'f', call_id: 'call-1', name: 'read_level', arguments: JSON.stringify(INPUT) }),
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
    const winnow = await serveTools(...NO_MODEL);
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
