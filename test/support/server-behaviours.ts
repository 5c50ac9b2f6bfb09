/** What a model server may do with a request; each makes a behaviour for `startScriptedServer`. */
import type { ServerResponse } from 'node:http';
import type { Behaviour } from './scripted-server.js';

export interface AnswerOptions {
  finish?: 'stop' | 'length';
  /** Null: the server counts nothing. Default: 10 read, 5 written. */
  usage?: Record<string, unknown> | null;
  logprobs?: readonly { token: string; logprob: number }[];
  headers?: Record<string, string>;
}

const USAGE = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };

export function answer(text: string | null, options: AnswerOptions = {}): Behaviour {
  const choice = {
    index: 0,
    message: { role: 'assistant', content: text },
    finish_reason: options.finish ?? 'stop',
    ...(options.logprobs ? { logprobs: { content: options.logprobs } } : {}),
  };
  const usage = options.usage === null ? {} : { usage: options.usage ?? USAGE };
  return send(200, { id: 'chat-1', object: 'chat.completion', choices: [choice], ...usage }, options.headers);
}

export const answerJson = (value: unknown, options?: AnswerOptions) => answer(JSON.stringify(value), options);
export const proseAroundJson = (value: unknown) => answer(`Sure! Here it is: ${JSON.stringify(value)} Anything else?`);
export const refusal = () => answer("I'm sorry, but I can't help with that.");
export const emptyAnswer = () => answer('');
/** JSON that ends where the tokens ended. */
export const cutJson = (value: unknown) => answer(JSON.stringify(value).slice(0, -4), { finish: 'length' });
/** The prompt has 100 tokens, of which the cache held `cached`. */
export const withCachedTokens = (text: string, cached: number) =>
  answer(text, {
    usage: { prompt_tokens: 100, completion_tokens: 7, prompt_tokens_details: { cached_tokens: cached } },
  });

/** An error as OpenAI words it. */
export function fail(status: number, message: string, headers: Record<string, string> = {}): Behaviour {
  return send(status, { error: { message, type: 'scripted', code: null } }, headers);
}

export const refusesJsonSchema = () => fail(400, "Invalid parameter: 'response_format' of type 'json_schema'.");
export const rateLimited = (headers: Record<string, string> = {}) => fail(429, 'Too many requests.', headers);

/** A body as it is, with any status. */
export function send(status: number, body: unknown, headers: Record<string, string> = {}): Behaviour {
  return (_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  };
}

/** The same, so many milliseconds later. */
export function late(behaviour: Behaviour, milliseconds: number): Behaviour {
  if (milliseconds === 0) return behaviour;
  return (request, response) => void setTimeout(() => behaviour(request, response), milliseconds);
}

/** Never answers. */
export const hang = (): Behaviour => () => {};

export const cutBeforeAnswer = (): Behaviour => (_request, response) => {
  response.socket?.destroy();
};

/** The head and half of the body arrive, then the connection is cut. */
export const cutInsideBody = (): Behaviour => (_request, response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '500' });
  sendThenCut(response, '{"id": "chat-1", "choices": [{"message": {"role": "assi');
};

function sendThenCut(response: ServerResponse, text: string): void {
  response.write(text, () => response.socket?.destroy());
}

type NextTokens = Record<string, number>;

/** The next token of `/completions` with probabilities, in the form of OpenAI and vLLM. */
export function nextTokens(probabilities: NextTokens): Behaviour {
  const logs = Object.fromEntries(Object.entries(probabilities).map(([text, value]) => [text, Math.log(value)]));
  return completion({ tokens: [''], token_logprobs: [0], top_logprobs: [logs] });
}

/** The same in the form of llama.cpp. */
export function nextTokensListed(probabilities: NextTokens): Behaviour {
  const listed = Object.entries(probabilities).map(([token, value]) => ({ token, logprob: Math.log(value) }));
  return completion({ content: [{ token: '', logprob: 0, top_logprobs: listed }] });
}

export const noNextTokens = () => completion(null);

function completion(logprobs: unknown): Behaviour {
  const choice = { index: 0, text: 'x', finish_reason: 'length', logprobs };
  const usage = { prompt_tokens: 20, completion_tokens: 1, prompt_tokens_details: { cached_tokens: 15 } };
  return send(200, { id: 'text-1', object: 'text_completion', choices: [choice], usage });
}
