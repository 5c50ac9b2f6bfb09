/**
 * One chat completion through LangChain. LangChain writes the request (it knows which model wants which fields);
 * the answer is read from the wire, because its own way loses text and usage when JSON is bad or cut
 * (`chat.completions.parse` throws). `_generate` instead of `invoke`: no callbacks, so no LANGSMITH_* or
 * LANGCHAIN_* variable of the environment can post, print or cache a prompt.
 */
import { HumanMessage, SystemMessage } from '@langchain/core/messages';
import { ChatOpenAICompletions } from '@langchain/openai';
import { z } from 'zod';
import type { CompletionRequest } from '../model.js';
import type { AnswerForm } from './answer-form.js';
import { exchange, serverUsageSchema } from './exchange.js';
import type { OpenAISettings } from './options.js';

const chatAnswerSchema = z.object({
  choices: z
    .array(
      z.object({
        message: z.object({ content: z.string().nullish(), refusal: z.string().nullish() }),
        finish_reason: z.string().nullish(),
        logprobs: z
          .object({ content: z.array(z.object({ token: z.string(), logprob: z.number() })).nullish() })
          .nullish()
          .catch(null),
      }),
    )
    .min(1),
  usage: serverUsageSchema.nullish().catch(null),
});
export type ChatAnswer = z.infer<typeof chatAnswerSchema>;

/** @throws ServerFailure; never a WinnowError. */
export async function chatOnce(
  settings: OpenAISettings,
  request: CompletionRequest,
  options: { form: AnswerForm; signal: AbortSignal },
): Promise<ChatAnswer> {
  let answer: ChatAnswer | undefined;
  let failure: unknown;
  const overTheWire = async (_url: unknown, init?: { body?: unknown }): Promise<Response> => {
    try {
      const wire = { path: '/chat/completions', body: String(init?.body), signal: options.signal } as const;
      const received = await exchange(settings, wire, chatAnswerSchema);
      answer = received.answer;
      return new Response(received.text, { headers: { 'content-type': 'application/json' } });
    } catch (error) {
      failure = error;
      throw error;
    }
  };
  const chat = createChat(settings, request, { form: options.form, fetch: overTheWire });
  const messages = [new SystemMessage(request.prompt.system), new HumanMessage(request.prompt.user)];
  try {
    await chat._generate(messages, { signal: options.signal });
  } catch (error) {
    if (answer === undefined) throw failure ?? error;
  }
  if (answer === undefined) throw new Error('LangChain returned without asking the server.');
  return answer;
}

function createChat(
  settings: OpenAISettings,
  request: CompletionRequest,
  options: { form: AnswerForm; fetch: typeof fetch },
): ChatOpenAICompletions {
  const { form } = options;
  const responseFormat = responseFormatOf(request, form);
  return new ChatOpenAICompletions({
    model: settings.model,
    maxTokens: request.maxTokens,
    ...(form.temperature ? { temperature: settings.temperature } : {}),
    ...(settings.logprobs ? { logprobs: true } : {}),
    modelKwargs: { ...(responseFormat ? { response_format: responseFormat } : {}), ...settings.extraBody },
    maxRetries: 0,
    timeout: settings.timeoutMs,
    // LangChain insists on a key, else takes one from the environment; what is sent is up to `exchange`.
    apiKey: 'sent-by-exchange',
    configuration: {
      baseURL: settings.baseUrl,
      organization: null,
      project: null,
      adminAPIKey: null,
      logLevel: 'off',
      fetch: options.fetch,
    },
  });
}

function responseFormatOf(request: CompletionRequest, form: AnswerForm): Record<string, unknown> | undefined {
  if (!request.schema || form.format === 'text') return undefined;
  if (form.format === 'json_object') return { type: 'json_object' };
  return {
    type: 'json_schema',
    json_schema: { name: request.schema.name, strict: true, schema: request.schema.schema },
  };
}
