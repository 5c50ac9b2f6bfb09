/** The model seam over an OpenAI-compatible server: any base URL, no state but what the server was found to support. */
import { z } from 'zod';
import { WinnowError } from '../../errors.js';
import { parseOptions } from '../../parse.js';
import { estimateTokens } from '../count-tokens.js';
import { type Completion, type CompletionRequest, type Model, noUsage } from '../model.js';
import { createClient } from './client.js';
import { type FailureFacts, isContextExceeded, ServerFailure } from './failure.js';
import { type OpenAIModelOptions, type OpenAISettings, optionsSchema } from './options.js';
import { createReaderOpener } from './token-reader.js';

/** What OpenAI takes in one strict schema and in one request; other servers take at least as much. */
const SERVER_LIMITS = { enumValues: 1_000, enumCharacters: 15_000, tools: 128 };

/** Nothing is sent before the first call. @throws WinnowError `invalid_option`; no message quotes a key */
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
  const tokens = promptTokens({ prompt });
  const least = Math.min(LEAST_TOKENS, maxTokens);
  // The server may count a tenth more than the estimate, and puts its marks around each message.
  const room = contextTokens - tokens - Math.ceil(tokens / 10) - 16;
  if (tokens + least <= contextTokens) return Math.min(maxTokens, Math.max(least, room));
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

/** Fields of a request that some models refuse. */
interface Fields {
  readonly temperature: boolean;
  /** Which field limits the answer. OpenAI's reasoning models take the newer one alone. */
  readonly limit: 'max_tokens' | 'max_completion_tokens';
}

interface AnswerForm extends Fields {
  readonly format: (typeof FORMATS)[number];
}

/**
 * The form in which a server takes a question. It is found by asking, from the strictest form down, and remembered for
 * the life of the model: a format for each response schema by its name, since a server may dislike one schema only; the
 * fields for all, since it is the model that refuses them.
 * @returns a function that asks in the best known form, and in lower ones while the server refuses the form
 */
function createFormFinder() {
  /** Of each schema name, the place of the format that was answered first: those above it were refused then. */
  const answered = new Map<string, number>();
  let fields: Fields = { temperature: true, limit: 'max_tokens' };

  return async <T>(schema: CompletionRequest['schema'], ask: (form: AnswerForm) => Promise<T>): Promise<T> => {
    if (!schema) answered.set('', FORMATS.indexOf('text'));
    const name = schema?.name ?? '';
    let place = answered.get(name) ?? 0;
    for (let tried = fields; ; ) {
      const format = FORMATS[place] ?? 'text';
      try {
        const answer = await ask({ ...tried, format });
        fields = tried;
        if (!answered.has(name)) answered.set(name, place);
        return answer;
      } catch (error) {
        if (!(error instanceof ServerFailure)) throw error;
        const other = withoutRefused(tried, error.facts);
        if (!other && (format === 'text' || !isAboutFormat(error.facts))) throw error;
        if (other) tried = other;
        else place += 1;
      }
    }
  };
}

function withoutRefused(fields: Fields, facts: FailureFacts): Fields | undefined {
  if (facts.status !== 400) return undefined;
  if (fields.limit === 'max_tokens' && facts.text.includes('max_completion_tokens'))
    return { ...fields, limit: 'max_completion_tokens' };
  return fields.temperature && /temperature/i.test(facts.text) ? { ...fields, temperature: false } : undefined;
}

function isAboutFormat(facts: FailureFacts): boolean {
  const { status = 0, text } = facts;
  if (isContextExceeded(facts)) return false;
  return status === 400 || ([404, 422, 501].includes(status) && /response_format|schema|json/i.test(text));
}
