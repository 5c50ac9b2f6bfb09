import { afterAll } from '@jest/globals';
import { createOpenAIModel } from '../../../../src/core/model/openai/openai-model.js';
import { createScriptedModel } from '../../../support/scripted-model.js';
import { type Behaviour, type RecordedRequest, startScriptedServer } from '../../../support/scripted-server.js';
import { answer, answerJson, nextTokens } from '../../../support/server-behaviours.js';
import { describeModelContract } from '../contract.js';

const closing: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const close of closing) await close();
});

/** Behaves as a server with a good model would on the contract's requests. */
function behave({ path, body }: RecordedRequest): Behaviour {
  if (path === '/v1/completions') {
    return String(body.prompt).endsWith('banana')
      ? nextTokens({ '"}': 0.98, q: 0.02 })
      : nextTokens({ ban: 0.9, qu: 0.1 });
  }
  if (body.max_tokens === 3) return answer('One two three', { finish: 'length' });
  return body.response_format ? answerJson({ fruit: 'banana' }) : answer('banana');
}

describeModelContract('the OpenAI-compatible model', async () => {
  const server = await startScriptedServer(behave);
  closing.push(server.close);
  return createOpenAIModel({ baseUrl: server.baseUrl, model: 'scripted-model', contextTokens: 2_000 });
});

describeModelContract('the scripted model', async () =>
  createScriptedModel({
    answers: (request) => (request.maxTokens === 3 ? 'One two three four five' : '{"fruit": "banana"}'),
    readers: () => ({
      probabilities: new Map([
        ['banana', 0.9],
        ['quince', 0.1],
      ]),
    }),
    limits: { contextTokens: 2_000 },
  }),
);
