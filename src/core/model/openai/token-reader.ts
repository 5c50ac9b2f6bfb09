/**
 * Next-token probabilities over HTTP: `POST /completions` for one token with its likeliest alternatives. The server's
 * tokenizer is unavailable, so names are split as byte-pair tokenizers usually do, and a token is its text.
 */
import { z } from 'zod';
import { throwIfCancelled, WinnowError } from '../../errors.js';
import { estimateTokens } from '../count-tokens.js';
import { type LikelyToken, noUsage, type Prompt, type ReaderRequest, type Token, type TokenReader } from '../model.js';
import type { Client } from './client.js';
import { isContextExceeded, isTransient, ServerFailure, toModelError } from './failure.js';
import type { OpenAISettings } from './options.js';

/** Alternatives requested; vLLM gives at most 20 unless configured otherwise. */
const TOP_TOKENS = 20;

export function createReaderOpener(settings: OpenAISettings, call: Client) {
  const { model, extraBody } = settings;
  return async ({ prompt, opening, signal }: ReaderRequest): Promise<TokenReader> => {
    const rawPrompt = renderRawPrompt(prompt, opening);
    const usage = noUsage();
    const read = new Map<string, readonly LikelyToken[]>();
    let isClosed = false;
    /** Possible continuations of a path, best first; each path is requested once. */
    const next = async (path: readonly Token[]) => {
      if (isClosed) throw new WinnowError('internal', 'The token reader is closed.');
      throwIfCancelled(signal);
      const written = path.join('');
      const known = read.get(written);
      if (known) return known;
      const text = rawPrompt + written;
      const oneToken = { max_tokens: 1, logprobs: TOP_TOKENS, temperature: 0, stream: false };
      const body = { model, prompt: text, ...oneToken, ...extraBody };
      const estimate = () => ({ prompt: estimateTokens(text), written: 1 });
      const top = await call({ prompt, signal, usage }, async (post) => {
        const asked = post({ path: '/completions', body, answer: nextTokenSchema, estimate });
        const answer = await asked.catch((error: unknown) => {
          throw toReaderError(error, settings, prompt);
        });
        if (answer.length === 0) throw noProbabilities(settings, 'its answer holds no log-probabilities');
        return answer;
      });
      read.set(written, top);
      return top;
    };
    // Fails early if the server gives no probabilities.
    await next([]);
    return {
      tokenize: piecesOf,
      detokenize: (tokens) => tokens.join(''),
      weigh: async (path, candidates) => weighPieces(candidates.map(String), await next(path)),
      likeliest: async (path, count) => (await next(path)).slice(0, count),
      usage: () => ({ ...usage }),
      close: async () => {
        isClosed = true;
      },
    };
  };
}

/** System, request and the beginning of the answer as plain text; ends exactly where the next token is wanted. */
export function renderRawPrompt({ system, user }: Prompt, opening: string): string {
  return `${system}\n\nRequest: ${user}\n\nAnswer: ${opening}`;
}

function toLikely(found: readonly (readonly [text: string, logprob: number])[]): LikelyToken[] {
  const likely = found.map(([text, logprob]) => ({ token: text, text, probability: Math.exp(logprob) }));
  return likely.sort((one, other) => other.probability - one.probability);
}

/** One map per token (OpenAI, vLLM). */
const mapSchema = z
  .object({ top_logprobs: z.tuple([z.record(z.string(), z.number())], z.unknown()) })
  .transform(({ top_logprobs: [first] }) => toLikely(Object.entries(first)));
/** One list per token (llama.cpp). */
const listedSchema = z.object({ top_logprobs: z.array(z.object({ token: z.string(), logprob: z.number() })) });
const listSchema = z
  .object({ content: z.tuple([listedSchema], z.unknown()) })
  .transform(({ content: [first] }) => toLikely(first.top_logprobs.map(({ token, logprob }) => [token, logprob])));
const nextTokenSchema = z
  .object({ choices: z.tuple([z.object({ logprobs: z.union([mapSchema, listSchema]).catch([]) })], z.unknown()) })
  .transform(({ choices: [{ logprobs }] }) => logprobs);

/** Errors about a key, a long prompt or a failing server stay unchanged; any other refusal means no reader. */
function toReaderError(error: unknown, settings: OpenAISettings, prompt: Prompt): unknown {
  if (!(error instanceof ServerFailure)) return error;
  const { facts } = error;
  const isAccessFailure = facts.status === undefined || [401, 403].includes(facts.status);
  if (isAccessFailure || isTransient(facts) || isContextExceeded(facts)) return error;
  return noProbabilities(settings, `POST /completions: ${toModelError(error, settings, prompt).message}`);
}

function noProbabilities({ baseUrl, model }: OpenAISettings, why: string): WinnowError {
  const message = `Rank needs next-token probabilities, and the server at ${baseUrl} does not give them (${why}). Use the list answer.`;
  return new WinnowError('model_refused', message, { details: { baseUrl, model } });
}

/** A separator belongs to the word after it; scripts without case, and all other text, are split into characters. */
const PIECE = /[_\-./ ]?(?:\p{Lo}|\p{Lu}+(?!\p{Ll})|\p{Lu}?[\p{Ll}\p{M}]+|\p{N}+)|[\s\S]/gu;

export function piecesOf(text: string): string[] {
  return text.match(PIECE) ?? [];
}

/** A token that was not returned is assumed less likely by this factor than the least likely returned one. */
const FLOOR = Math.exp(-1);

/**
 * Log weight of each piece: the probability of all tokens that are a prefix of it or have it as a prefix. A token that fits
 * several pieces is shared evenly, since nothing shows which was meant.
 */
export function weighPieces(
  pieces: readonly string[],
  top: readonly Pick<LikelyToken, 'text' | 'probability'>[],
): number[] {
  const floor = FLOOR * Math.min(1, ...top.map(({ probability }) => probability));
  const sums = pieces.map(() => 0);
  for (const { text, probability } of top) {
    if (text === '') continue;
    const fits = (piece: string) => piece.startsWith(text) || text.startsWith(piece);
    const fitting = pieces.flatMap((piece, index) => (fits(piece) ? [index] : []));
    for (const index of fitting) sums[index] = (sums[index] ?? 0) + probability / fitting.length;
  }
  return sums.map((sum) => Math.log(Math.max(sum, floor)));
}
