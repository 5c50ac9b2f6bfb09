/**
 * Next-token probabilities over HTTP: `POST /completions` for one token with its likeliest alternatives. What a
 * server returns has one of two forms: a map a token (OpenAI, vLLM) or a list a token (llama.cpp).
 */
import { z } from 'zod';
import { throwIfCancelled, toWinnowError, WinnowError } from '../../errors.js';
import { estimateTokens } from '../count-tokens.js';
import {
  addUsage,
  noUsage,
  type Prompt,
  type ReaderRequest,
  type TokenReader,
  type Usage,
  withUsage,
} from '../model.js';
import { withDeadline } from './deadline.js';
import { exchange, serverUsageSchema, usageOf } from './exchange.js';
import type { OpenAISettings } from './options.js';
import { createPieces, type Pieces, type TopToken, weighPieces } from './pieces.js';
import { renderRawPrompt } from './raw-prompt.js';
import { retrying } from './retry.js';
import { isContextExceeded, isPassing, ServerFailure, toModelError } from './server-failure.js';

/** Alternatives asked for; vLLM gives at most 20 unless told otherwise. */
const TOP_TOKENS = 20;

const listedToken = z.object({ token: z.string(), logprob: z.number() });
const nextTokenSchema = z.object({
  choices: z
    .array(
      z.object({
        logprobs: z
          .object({
            top_logprobs: z.array(z.record(z.string(), z.number()).nullish()).nullish(),
            content: z.array(z.object({ top_logprobs: z.array(listedToken).nullish() })).nullish(),
          })
          .nullish()
          .catch(null),
      }),
    )
    .min(1),
  usage: serverUsageSchema.nullish().catch(null),
});

/** The `openReader` of one model; its vocabulary is shared by all its readers. */
export function createReaderOpener(settings: OpenAISettings): (request: ReaderRequest) => Promise<TokenReader> {
  const pieces = createPieces();
  return async (request) => {
    const reader = createReader(settings, pieces, request);
    await reader.topTokens('');
    return reader;
  };
}

function createReader(
  settings: OpenAISettings,
  pieces: Pieces,
  request: ReaderRequest,
): TokenReader & { topTokens(written: string): Promise<readonly TopToken[]> } {
  const rawPrompt = renderRawPrompt(request.prompt, request.opening);
  const usage = noUsage();
  const read = new Map<string, readonly TopToken[]>();
  let isClosed = false;

  const topTokens = async (written: string) => {
    throwIfCancelled(request.signal);
    const known = read.get(written);
    if (known) return known;
    const top = await askNextToken(settings, { request, rawPrompt: rawPrompt + written, usage });
    read.set(written, top);
    return top;
  };

  return {
    topTokens,
    tokenize: pieces.tokenize,
    async weigh(path, candidates) {
      if (isClosed) throw new WinnowError('internal', 'A closed token reader was asked.');
      const top = await topTokens(path.map(pieces.textOf).join(''));
      return weighPieces(candidates.map(pieces.textOf), top);
    },
    async likeliest(path, count) {
      if (isClosed) throw new WinnowError('internal', 'A closed token reader was asked.');
      const top = await topTokens(path.map(pieces.textOf).join(''));
      return [...top]
        .sort((one, other) => other.logprob - one.logprob)
        .slice(0, count)
        .map(({ text, logprob }) => ({ token: pieces.tokenOf(text), text, probability: Math.exp(logprob) }));
    },
    usage: () => ({ ...usage }),
    close: async () => {
      isClosed = true;
    },
  };
}

async function askNextToken(
  settings: OpenAISettings,
  { request, rawPrompt, usage }: { request: ReaderRequest; rawPrompt: string; usage: Usage },
): Promise<readonly TopToken[]> {
  const { prompt, signal } = request;
  const fields = {
    model: settings.model,
    prompt: rawPrompt,
    max_tokens: 1,
    logprobs: TOP_TOKENS,
    temperature: 0,
    stream: false,
  };
  const body = JSON.stringify({ ...fields, ...settings.extraBody });
  try {
    const { answer } = await withDeadline({ timeoutMs: settings.timeoutMs, signal }, (deadline) =>
      retrying(settings, deadline, () => {
        usage.calls += 1;
        return exchange(settings, { path: '/completions', body, signal: deadline.signal }, nextTokenSchema);
      }),
    );
    addUsage(usage, { calls: 0, ...usageOf(answer.usage, () => ({ prompt: estimateTokens(rawPrompt), written: 1 })) });
    const top = readTopTokens(answer);
    if (top.length === 0) throw noProbabilities(settings, 'its answer holds no log-probabilities');
    return top;
  } catch (error) {
    throw withUsage(toReaderError(error, settings, prompt), usage);
  }
}

function readTopTokens({ choices }: z.infer<typeof nextTokenSchema>): TopToken[] {
  const logprobs = choices[0]?.logprobs;
  const byText = logprobs?.top_logprobs?.[0];
  if (byText) return Object.entries(byText).map(([text, logprob]) => ({ text, logprob }));
  const listed = logprobs?.content?.[0]?.top_logprobs ?? [];
  return listed.map(({ token, logprob }) => ({ text: token, logprob }));
}

function toReaderError(error: unknown, settings: OpenAISettings, prompt: Prompt): WinnowError {
  if (!(error instanceof ServerFailure)) return toWinnowError(error);
  const { facts } = error;
  const known = toModelError(error, settings, prompt);
  const isForbidden = facts.kind === 'status' && (facts.status === 401 || facts.status === 403);
  if (facts.kind !== 'status' || isForbidden || isPassing(facts) || isContextExceeded(facts)) return known;
  return noProbabilities(settings, `POST /completions: ${known.message}`);
}

function noProbabilities(settings: OpenAISettings, why: string): WinnowError {
  const message = `Rank needs next-token probabilities, and the server at ${settings.baseUrl} does not give them (${why}). Use the list answer.`;
  return new WinnowError('model_refused', message, { details: { baseUrl: settings.baseUrl, model: settings.model } });
}
