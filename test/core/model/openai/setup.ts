/** A model on a scripted server, for one test. */
import { afterEach } from 'vitest';
import type { CompletionRequest, Model } from '../../../../src/core/model/model.js';
import { createOpenAIModel } from '../../../../src/core/model/openai/openai-model.js';
import type { OpenAIModelOptions } from '../../../../src/core/model/openai/options.js';
import { type ScriptedServer, type ServerScript, startScriptedServer } from '../../../support/scripted-server.js';

export const KEY = 'test-key-0123456789abcdef';

export const PLAIN: CompletionRequest = {
  stage: 'selection',
  prompt: { system: 'You choose tools.', user: 'What is the water level?' },
  maxTokens: 50,
};

export const WITH_SCHEMA: CompletionRequest = {
  ...PLAIN,
  schema: { name: 'selection', schema: { type: 'object', properties: { names: { type: 'array' } } } },
};

const servers = new Set<ScriptedServer>();

afterEach(async () => {
  for (const server of servers) await server.close();
  servers.clear();
});

/** Retries without a pause unless told otherwise. */
export async function startModel(
  script: ServerScript,
  options: Partial<OpenAIModelOptions> = {},
): Promise<{ server: ScriptedServer; model: Model }> {
  const server = await startScriptedServer(script);
  servers.add(server);
  const model = createOpenAIModel({
    baseUrl: server.baseUrl,
    model: 'scripted-model',
    apiKey: KEY,
    retryDelayMs: 0,
    ...options,
  });
  return { server, model };
}

/** What a promise rejects with. */
export async function errorOf(promise: Promise<unknown>): Promise<Error> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof Error) return error;
  }
  throw new Error('The promise did not reject with an error.');
}
