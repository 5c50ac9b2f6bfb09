/**
 * One chat completion. LangChain writes the request (it knows which model wants which fields); the exchange is our
 * own, because LangChain's loses text and usage when JSON is bad or cut (`chat.completions.parse` throws), and takes
 * as long again as the exchange itself. Nothing of LangChain runs that calls back, so no LANGSMITH_* or LANGCHAIN_*
 * variable of the environment can post, print or cache a prompt.
 */
import { HumanMessage, SystemMessage } from '@langchain/core/messages';
import { ChatOpenAICompletions, convertMessagesToCompletionsMessageParams } from '@langchain/openai';
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
  const body = renderBody(settings, request, options.form);
  const wire = { path: '/chat/completions', body, signal: options.signal } as const;
  const { answer } = await exchange(settings, wire, chatAnswerSchema);
  return answer;
}

function renderBody(settings: OpenAISettings, request: CompletionRequest, form: AnswerForm): string {
  const responseFormat = responseFormatOf(request, form);
  const chat = new ChatOpenAICompletions({
    model: settings.model,
    maxTokens: request.maxTokens,
    ...(form.temperature ? { temperature: settings.temperature } : {}),
    ...(settings.logprobs ? { logprobs: true } : {}),
    modelKwargs: { ...(responseFormat ? { response_format: responseFormat } : {}), ...settings.extraBody },
    // LangChain insists on a key, else takes one from the environment; what is sent is up to `exchange`.
    apiKey: 'sent-by-exchange',
  });
  const messages = convertMessagesToCompletionsMessageParams({
    messages: [new SystemMessage(request.prompt.system), new HumanMessage(request.prompt.user)],
    model: settings.model,
  });
  return JSON.stringify({ ...chat.invocationParams(), stream: false, messages });
}

function responseFormatOf(request: CompletionRequest, form: AnswerForm): Record<string, unknown> | undefined {
  if (!request.schema || form.format === 'text') return undefined;
  if (form.format === 'json_object') return { type: 'json_object' };
  return {
    type: 'json_schema',
    json_schema: { name: request.schema.name, strict: true, schema: request.schema.schema },
  };
}
