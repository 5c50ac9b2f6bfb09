/** A model at an OpenAI-compatible server. Its only state is what the server was found to support. */
import { z } from 'zod';
import { WinnowError } from '../../errors.js';
import { parseOptions } from '../../parse.js';
import { estimateTokens } from '../count-tokens.js';
import { type Completion, type CompletionRequest, type Model, noUsage } from '../model.js';
import { createClient } from './client.js';
import { type FailureFacts, isContextExceeded, isFormRefused, ServerFailure } from './failure.js';
import { type OpenAIModelOptions, type OpenAISettings, optionsSchema } from './options.js';
import { createReaderOpener } from './token-reader.js';

/** What OpenAI accepts in one strict schema and in one request; other servers accept at least as much. */
const SERVER_LIMITS = { enumValues: 1_000, enumCharacters: 15_000, tools: 128 };

/**
 * A model at an OpenAI-compatible endpoint.
 * Sends nothing before the first call. @throws WinnowError `invalid_option`; no message quotes a key
 * @example
 * const model = createOpenAIModel({ baseUrl: 'https://api.openai.com/v1', model: 'gpt-4o-mini', apiKey: 'sk-…' });
 */
export function createOpenAIModel(options: OpenAIModelOptions): Model {
  const settings = parseOptions(optionsSchema, options, 'model');
  const askInForm = createFormFinder();
  const call = createClient(settings);
  return {
    id: settings.model,
    limits: { contextTokens: settings.contextTokens, ...SERVER_LIMITS },
    preferredAnswer: 'list',
    async complete(request) {
      const { prompt, signal, schema } = request;
      const usage = noUsage();
      return call({ prompt, signal, usage }, async (post) => {
        const maxTokens = answerRoom(request, settings.contextTokens);
        return askInForm(schema, async (form) => {
          const answer = await post({
            path: '/chat/completions',
            body: renderChat(settings, { ...request, maxTokens }, form),
            answer: chatAnswerSchema,
            estimate: (given) => ({ prompt: promptTokens(request), written: estimateTokens(writtenIn(given)) }),
          });
          return { ...toCompletion(answer), usage };
        });
      });
    },
    openReader: createReaderOpener(settings, call),
    countTokens: estimateTokens,
    /** The process shares its connections and closes idle ones. */
    close: async () => {},
  };
}

/** Least room for an answer. */
const LEAST_TOKENS = 64;

/**
 * Tokens that the context leaves for an answer, at most `maxTokens`. Without this llama.cpp cuts the answer, and vLLM
 * refuses the call.
 * @throws WinnowError `context_exceeded` if there is no room for an answer
 */
export function answerRoom(
  { prompt, maxTokens }: Pick<CompletionRequest, 'prompt' | 'maxTokens'>,
  contextTokens: number,
): number {
  // The server may count a tenth more than the estimate, and adds marks around each message.
  const roomBeside = (tokens: number) => contextTokens - tokens - Math.ceil(tokens / 10) - 16;
  // An estimate has at most one token per character, so most prompts need no count.
  if (roomBeside(prompt.system.length + prompt.user.length) >= maxTokens) return maxTokens;
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
  { model, temperature, logprobs, extraBody }: OpenAISettings,
  { prompt, schema, maxTokens }: CompletionRequest,
  { format, limit, temperature: takesTemperature }: AnswerForm,
): object {
  const schemaFormat = format === 'json_schema' ? { json_schema: { ...schema, strict: true } } : {};
  return {
    model,
    messages: [
      { role: 'system', content: prompt.system },
      { role: 'user', content: prompt.user },
    ],
    [limit]: maxTokens,
    ...(takesTemperature ? { temperature } : {}),
    ...(logprobs ? { logprobs: true } : {}),
    stream: false,
    ...(format === 'text' ? {} : { response_format: { type: format, ...schemaFormat } }),
    ...extraBody,
  };
}

const logprobsSchema = z.object({ content: z.array(z.object({ token: z.string(), logprob: z.number() })).nullish() });
const choiceSchema = z.object({
  message: z.object({ content: z.string().nullish(), refusal: z.string().nullish() }),
  finish_reason: z.string().nullish(),
  logprobs: logprobsSchema.nullish().catch(null),
});
const chatAnswerSchema = z.object({ choices: z.tuple([choiceSchema], z.unknown()) });
type ChatAnswer = z.infer<typeof chatAnswerSchema>;

function writtenIn({ choices: [{ message }] }: ChatAnswer): string {
  return message.content || message.refusal || '';
}

function toCompletion(answer: ChatAnswer): Omit<Completion, 'usage'> {
  const [{ finish_reason, logprobs }] = answer.choices;
  const finish = finish_reason === 'length' ? 'length' : 'stop';
  const written = logprobs?.content?.map(({ token, logprob }) => ({ text: token, logprob }));
  return { text: writtenIn(answer), finish, ...(written ? { logprobs: written } : {}) };
}

const FORMATS = ['json_schema', 'json_object', 'text'] as const;

interface AnswerForm {
  readonly format: (typeof FORMATS)[number];
  readonly temperature: boolean;
  /** Which field limits the answer. OpenAI's reasoning models accept only the newer one. */
  readonly limit: 'max_tokens' | 'max_completion_tokens';
}

/**
 * Finds the form of request that a server accepts, by trying from the strictest form down. It is remembered for the life of
 * the model. Fields apply to all requests, since the model refuses them. A looser format applies to all schemas of a name
 * only if the server refused two of them in the stricter one and accepted none, since it may refuse a single schema.
 * @returns a function that asks in the best known form, and in looser ones while the server refuses the form
 */
function createFormFinder() {
  const formats = new Map<string, AnswerForm['format']>([['', 'text']]);
  /** For each name, the last refused schema as JSON, and the format in which it was accepted. */
  const disliked = new Map<string, { readonly text: string; readonly format: AnswerForm['format'] }>();
  let fields: Omit<AnswerForm, 'format'> = { temperature: true, limit: 'max_tokens' };

  return async <T>(schema: CompletionRequest['schema'], ask: (form: AnswerForm) => Promise<T>): Promise<T> => {
    const { name } = schema ?? { name: '' };
    const text = JSON.stringify(schema) ?? '';
    const last = disliked.get(name);
    const known = last?.text === text ? last.format : formats.get(name);
    for (let form: AnswerForm = { ...fields, format: known ?? FORMATS[0] }; ; ) {
      try {
        const answer = await ask(form);
        const { format, ...taken } = form;
        fields = taken;
        if (known !== undefined && format === known) return answer;
        if (format !== FORMATS[0]) disliked.set(name, { text, format });
        const isSecond = last !== undefined && last.text !== text;
        if ((format === FORMATS[0] || isSecond) && !formats.has(name)) formats.set(name, format);
        return answer;
      } catch (error) {
        const lower = error instanceof ServerFailure ? lowerForm(form, error.facts) : undefined;
        if (!lower) throw error;
        form = lower;
      }
    }
  };
}

function lowerForm(form: AnswerForm, facts: FailureFacts): AnswerForm | undefined {
  const { status, text } = facts;
  if ((status !== 400 && !isFormRefused(facts)) || isContextExceeded(facts)) return undefined;
  if (form.limit === 'max_tokens' && text.includes('max_completion_tokens'))
    return { ...form, limit: 'max_completion_tokens' };
  if (form.temperature && /temperature/i.test(text)) return { ...form, temperature: false };
  const format = FORMATS[FORMATS.indexOf(form.format) + 1];
  return format && { ...form, format };
}
