/** The peer: LangChain's `createAgent` with `llmToolSelectorMiddleware`, as its documentation sets it up. */
import { ChatOpenAI } from '@langchain/openai';
import { createAgent, llmToolSelectorMiddleware, tool } from 'langchain';

/** A call may take as long as the model takes: the peer is not cut short. */
const TIMEOUT_MS = 86_400_000;

/** @param options `baseURL` of an OpenAI-compatible server, `maxTools` handed on at most, `fetch` in place of the platform's */
export function createSelectingAgent(tools, { baseURL, maxTools, model = 'local', fetch }) {
  const chat = new ChatOpenAI({
    model,
    apiKey: 'no-key',
    temperature: 0,
    maxRetries: 0,
    timeout: TIMEOUT_MS,
    configuration: { baseURL, ...(fetch ? { fetch } : {}) },
  });
  const bound = tools.map(({ name, description, inputSchema }) =>
    tool(() => '', { name, description, schema: inputSchema }),
  );
  return createAgent({ model: chat, tools: bound, middleware: [llmToolSelectorMiddleware({ maxTools })] });
}
