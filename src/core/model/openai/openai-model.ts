/** The model seam over an OpenAI-compatible server: any base URL, no state but what the server was found to support. */
import { sameJson } from '../../catalog/schema/json.js';
import { toWinnowError } from '../../errors.js';
import { estimateTokens } from '../count-tokens.js';
import {
  addUsage,
  type Completion,
  type CompletionRequest,
  type Model,
  noUsage,
  type Prompt,
  type Usage,
  withUsage,
} from '../model.js';
import { createFormFinder } from './answer-form.js';
import { answerRoom } from './answer-room.js';
import type { ChatAnswer } from './chat.js';
import { withDeadline } from './deadline.js';
import { usageOf } from './exchange.js';
import { type OpenAIModelOptions, type OpenAISettings, resolveOpenAIOptions } from './options.js';
import { retrying } from './retry.js';
import { ServerFailure, toModelError } from './server-failure.js';
import { toStrictSchema } from './strict-schema.js';
import { createReaderOpener } from './token-reader.js';

/** What OpenAI takes in one strict schema and in one request; other servers take at least as much. */
const SERVER_LIMITS = { enumValues: 1_000, enumCharacters: 15_000, tools: 128 };

/**
 * @throws WinnowError `invalid_option`. Nothing is sent before the first call, and LangChain (0.6 s) is
 * not loaded before it.
 */
export function createOpenAIModel(options: OpenAIModelOptions): Model {
  const settings = resolveOpenAIOptions(options);
  const limits = { contextTokens: settings.contextTokens, ...SERVER_LIMITS };
  const findForm = createFormFinder();
  const openReader = createReaderOpener(settings);
  return {
    id: settings.model,
    limits,
    preferredAnswer: 'list',
    complete: (asked) =>
      countingUsage(settings, asked.prompt, async (usage) => {
        const request = { ...asked, maxTokens: answerRoom(asked, settings.contextTokens) };
        const { chatOnce } = await import('./chat.js');
        return withDeadline({ timeoutMs: settings.timeoutMs, signal: request.signal }, async (deadline) => {
          const strictOf = createStrictRequest(request);
          return findForm({
            schemaName: request.schema?.name,
            isPossible: (format) => format !== 'strict' || strictOf() !== undefined,
            ask: async (form) => {
              const strict = form.format === 'strict' ? strictOf() : undefined;
              const answer = await retrying(settings, deadline, () => {
                usage.calls += 1;
                return chatOnce(settings, strict?.request ?? request, { form, signal: deadline.signal });
              });
              const completion = toCompletion(answer, request, usage);
              return strict ? unwrapped(completion, strict) : completion;
            },
          });
        });
      }),
    openReader,
    countTokens: estimateTokens,
    close: settings.connections.close,
  };
}

interface StrictRequest {
  request: CompletionRequest;
  unwrap(text: string): string;
}

/** The request with its schema for the strict mode, made when it is first asked for; none where that is the same schema. */
function createStrictRequest(request: CompletionRequest): () => StrictRequest | undefined {
  let made: { strict: StrictRequest | undefined } | undefined;
  const make = (): StrictRequest | undefined => {
    const strict = request.schema && toStrictSchema(request.schema.schema);
    if (!request.schema || !strict || sameJson(strict.schema, request.schema.schema)) return undefined;
    return { request: { ...request, schema: { ...request.schema, schema: strict.schema } }, unwrap: strict.unwrap };
  };
  return () => {
    made ??= { strict: make() };
    return made.strict;
  };
}

/** Log-probabilities belong to the text as it was written, so they go where it changes. */
function unwrapped(completion: Completion, { unwrap }: StrictRequest): Completion {
  const text = unwrap(completion.text);
  const { logprobs: _, ...rest } = completion;
  return text === completion.text ? completion : { ...rest, text };
}

/** Runs one call; whatever it throws leaves as a WinnowError whose details carry what was spent. */
async function countingUsage<T>(
  settings: OpenAISettings,
  prompt: Prompt,
  call: (usage: Usage) => Promise<T>,
): Promise<T> {
  const usage = noUsage();
  try {
    return await call(usage);
  } catch (thrown) {
    const error = thrown instanceof ServerFailure ? toModelError(thrown, settings, prompt) : toWinnowError(thrown);
    throw withUsage(error, usage);
  }
}

function toCompletion(answer: ChatAnswer, request: CompletionRequest, usage: Usage): Completion {
  const choice = answer.choices[0];
  const text = choice?.message.content || choice?.message.refusal || '';
  const { prompt } = request;
  const counted = usageOf(answer.usage, () => ({
    prompt: estimateTokens(prompt.system) + estimateTokens(prompt.user),
    written: estimateTokens(text),
  }));
  addUsage(usage, { calls: 0, ...counted });
  const logprobs = choice?.logprobs?.content?.map(({ token, logprob }) => ({ text: token, logprob }));
  const finish = choice?.finish_reason === 'length' ? 'length' : 'stop';
  return { text, finish, usage, ...(logprobs ? { logprobs } : {}) };
}
