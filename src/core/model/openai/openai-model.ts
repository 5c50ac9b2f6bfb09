/** The model seam over an OpenAI-compatible server: any base URL, no state but what the server was found to support. */
import type OpenAI from 'openai';
import { z } from 'zod';
import { WinnowError } from '../../errors.js';
import { estimateTokens } from '../count-tokens.js';
import { type Completion, type CompletionRequest, type Model, noUsage } from '../model.js';
import { type AnswerForm, createFormFinder, type Fields } from './answer-form.js';
import type { Client } from './client.js';
import { type OpenAIModelOptions, type OpenAISettings, resolveOpenAIOptions } from './options.js';
import { createReaderOpener } from './token-reader.js';

/** What OpenAI takes in one strict schema and in one request; other servers take at least as much. */
const SERVER_LIMITS = { enumValues: 1_000, enumCharacters: 15_000, tools: 128 };

/** Nothing is sent or loaded before the first call. @throws WinnowError `invalid_option` */
export function createOpenAIModel(options: OpenAIModelOptions): Model {
  const settings = resolveOpenAIOptions(options);
  const askInForm = createFormFinder();
  let opened: Promise<Client> | undefined;
  const open = () => {
    opened ??= import('./client.js').then(({ createClient }) => createClient(settings));
    return opened;
  };
  return {
    id: settings.model,
    limits: { contextTokens: settings.contextTokens, ...SERVER_LIMITS },
    preferredAnswer: 'list',
    async complete(request) {
      const { prompt, signal, schema } = request;
      const usage = noUsage();
      const call = await open();
      return call({ prompt, signal, usage }, async (post) => {
        const maxTokens = answerRoom(request, settings.contextTokens);
        return askInForm(schema, async (form, fields) => {
          const answer = await post({
            path: '/chat/completions',
            body: renderChat(settings, { ...request, maxTokens }, { ...form, ...fields }),
            answer: chatAnswerSchema,
            estimate: (given) => ({ prompt: promptTokens(request), written: estimateTokens(writtenIn(given)) }),
          });
          return { ...toCompletion(answer, form), usage };
        });
      });
    },
    openReader: createReaderOpener(settings, open),
    countTokens: estimateTokens,
    /** The connections are those of the process, which ends them when they are idle. */
    close: async () => {},
  };
}

/** With less no answer can be begun. */
const LEAST_TOKENS = 64;

/**
 * Tokens that the context leaves for an answer: what was asked for where it fits. Without this llama.cpp cuts the
 * answer, and vLLM refuses the call.
 * @throws WinnowError `context_exceeded` where there is no room for any answer
 */
export function answerRoom(
  { prompt, maxTokens }: Pick<CompletionRequest, 'prompt' | 'maxTokens'>,
  contextTokens: number,
): number {
  // The server may count a tenth more than the estimate, and puts its marks around each message.
  const roomBeside = (tokens: number) => contextTokens - tokens - Math.ceil(tokens / 10) - 16;
  // A token is rarely shorter than a character, so most prompts need no count.
  if (maxTokens <= roomBeside(prompt.system.length + prompt.user.length)) return maxTokens;
  const tokens = promptTokens({ prompt });
  const least = Math.min(LEAST_TOKENS, maxTokens);
  if (tokens + least <= contextTokens) return Math.min(maxTokens, Math.max(least, roomBeside(tokens)));
  const message = `The prompt has about ${tokens} tokens and needs room for ${least}, the context of the model holds ${contextTokens}. Give the model's real context as contextTokens, or send less.`;
  throw new WinnowError('context_exceeded', message, { details: { tokens, contextTokens } });
}

function promptTokens({ prompt }: Pick<CompletionRequest, 'prompt'>): number {
  return estimateTokens(prompt.system) + estimateTokens(prompt.user);
}

function renderChat(
  settings: OpenAISettings,
  { prompt, maxTokens }: CompletionRequest,
  { format, schema, temperature, limit }: AnswerForm & Fields,
): OpenAI.ChatCompletionCreateParamsNonStreaming {
  const responseFormat = schema
    ? { type: 'json_schema' as const, json_schema: { ...schema, strict: true } }
    : { type: 'json_object' as const };
  return {
    model: settings.model,
    messages: [
      { role: 'system', content: prompt.system },
      { role: 'user', content: prompt.user },
    ],
    [limit]: maxTokens,
    ...(temperature ? { temperature: settings.temperature } : {}),
    ...(settings.logprobs ? { logprobs: true } : {}),
    stream: false,
    ...(format === 'text' ? {} : { response_format: responseFormat }),
    ...settings.extraBody,
  };
}

const logprobsSchema = z.object({ content: z.array(z.object({ token: z.string(), logprob: z.number() })).nullish() });
const chatAnswerSchema = z.object({
  choices: z
    .array(
      z.object({
        message: z.object({ content: z.string().nullish(), refusal: z.string().nullish() }),
        finish_reason: z.string().nullish(),
        logprobs: logprobsSchema.nullish().catch(null),
      }),
    )
    .min(1),
});
type ChatAnswer = z.infer<typeof chatAnswerSchema>;

function writtenIn({ choices }: ChatAnswer): string {
  const message = choices[0]?.message;
  return message?.content || message?.refusal || '';
}

function toCompletion(answer: ChatAnswer, { unwrap }: AnswerForm): Omit<Completion, 'usage'> {
  const [choice] = answer.choices;
  const written = writtenIn(answer);
  const text = unwrap(written);
  const finish = choice?.finish_reason === 'length' ? 'length' : 'stop';
  // Log-probabilities belong to the text as it was written.
  const logprobs = text === written ? choice?.logprobs?.content : undefined;
  if (!logprobs) return { text, finish };
  return { text, finish, logprobs: logprobs.map(({ token, logprob }) => ({ text: token, logprob })) };
}
