/** Nothing in the environment may re-route a prompt, post a copy of it, print it, or add a key to it. */
import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { startScriptedServer } from '../../../support/scripted-server.js';
import { answer, send } from '../../../support/server-behaviours.js';
import { PLAIN, startModel } from './setup.js';

const before = { ...process.env };

beforeEach(() => {
  process.env = { ...before };
});
afterEach(() => {
  process.env = before;
  jest.restoreAllMocks();
});

it('sends prompts to the base URL only, whatever LANGSMITH_*, LANGCHAIN_* and OPENAI_* say', async () => {
  const elsewhere = await startScriptedServer(() => send(200, {}));
  const spies = [jest.spyOn(console, 'log'), jest.spyOn(console, 'debug'), jest.spyOn(process.stdout, 'write')];
  Object.assign(process.env, {
    LANGSMITH_TRACING: 'true',
    LANGCHAIN_TRACING_V2: 'true',
    LANGSMITH_API_KEY: 'tracing-key',
    LANGCHAIN_API_KEY: 'tracing-key',
    LANGSMITH_ENDPOINT: elsewhere.baseUrl,
    LANGCHAIN_ENDPOINT: elsewhere.baseUrl,
    LANGSMITH_GATEWAY: elsewhere.baseUrl,
    LANGCHAIN_CALLBACKS_BACKGROUND: 'false',
    LANGCHAIN_VERBOSE: 'true',
    OPENAI_BASE_URL: elsewhere.baseUrl,
    OPENAI_API_BASE: elsewhere.baseUrl,
    OPENAI_API_KEY: 'key-of-the-environment',
    OPENAI_ADMIN_KEY: 'key-of-the-environment',
    OPENAI_ORG_ID: 'organisation-of-the-environment',
    OPENAI_ORGANIZATION: 'organisation-of-the-environment',
    OPENAI_PROJECT_ID: 'project-of-the-environment',
    OPENAI_CUSTOM_HEADERS: 'x-secret: header-of-the-environment',
    OPENAI_LOG: 'debug',
  });
  const { server, model } = await startModel([answer('yes')], { apiKey: undefined });
  await expect(model.complete(PLAIN)).resolves.toMatchObject({ text: 'yes' });
  await new Promise((resolve) => setTimeout(resolve, 200)); // tracers post in the background
  await elsewhere.close();
  expect(elsewhere.requests).toHaveLength(0);
  expect(server.requests).toHaveLength(1);
  expect(JSON.stringify(server.requests[0])).not.toMatch(/environment|tracing-key/);
  for (const spy of spies) expect(spy).not.toHaveBeenCalled();
});
