/**
 * Next-token probabilities over HTTP: `POST /completions` for one token with its likeliest alternatives. The server's
 * tokenizer is out of reach, so names are cut where byte-pair tokenizers cut them, and its tokens are matched by text.
 */
import { createHash } from 'node:crypto';
import type OpenAI from 'openai';
import { z } from 'zod';
import { throwIfCancelled, WinnowError } from '../../errors.js';
import { estimateTokens } from '../count-tokens.js';
import { noUsage, type Prompt, type ReaderRequest, type Token, type TokenReader } from '../model.js';
import type { Client } from './client.js';
import { isContextExceeded, isPassing, ServerFailure, toModelError } from './failure.js';
import type { OpenAISettings } from './options.js';

/** Alternatives asked for; vLLM gives at most 20 unless told otherwise. */
const TOP_TOKENS = 20;

/** The `openReader` of one model; its vocabulary is shared by all its readers. */
export function createReaderOpener(
  settings: OpenAISettings,
  open: () => Promise<Client>,
): (request: ReaderRequest) => Promise<TokenReader> {
  const pieces = createPieces();
  return async ({ prompt, opening, signal }) => {
    const rawPrompt = renderRawPrompt(prompt, opening);
    const usage = noUsage();
    const read = new Map<string, readonly TopToken[]>();
    let isClosed = false;
    const call = await open();
    const topTokens = async (written: string) => {
      throwIfCancelled(signal);
      const known = read.get(written);
      if (known) return known;
      const body = renderCompletion(settings, rawPrompt + written);
      const top = await call({ prompt, signal, usage }, async (post) => {
        const answer = await post({
          ...{ path: '/completions', body, answer: nextTokenSchema },
          estimate: () => ({ prompt: estimateTokens(body.prompt), written: 1 }),
        }).catch((error: unknown) => {
          throw toReaderError(error, settings, prompt);
        });
        return readTopTokens(answer, settings);
      });
      read.set(written, top);
      return top;
    };
    // Whether the server gives probabilities at all shows at once.
    await topTokens('');
    return {
      tokenize: pieces.tokenize,
      async weigh(path, candidates) {
        if (isClosed) throw new WinnowError('internal', 'A closed token reader was asked.');
        const top = await topTokens(path.map(pieces.textOf).join(''));
        return weighPieces(candidates.map(pieces.textOf), top);
      },
      async likeliest(path, count) {
        if (isClosed) throw new WinnowError('internal', 'A closed token reader was asked.');
        const top = await topTokens(path.map(pieces.textOf).join(''));
        const best = [...top].sort((one, other) => other.logprob - one.logprob).slice(0, count);
        return best.map(({ text, logprob }) => ({ token: pieces.tokenOf(text), text, probability: Math.exp(logprob) }));
      },
      usage: () => ({ ...usage }),
      close: async () => {
        isClosed = true;
      },
    };
  };
}

/** System, request and the opened answer as plain text; ends exactly where the next token is wanted. */
export function renderRawPrompt({ system, user }: Prompt, opening: string): string {
  return `${system}\n\nRequest: ${user}\n\nAnswer: ${opening}`;
}

type CompletionBody = OpenAI.CompletionCreateParamsNonStreaming & { prompt: string };

function renderCompletion({ model, extraBody }: OpenAISettings, prompt: string): CompletionBody {
  const fields = { max_tokens: 1, logprobs: TOP_TOKENS, temperature: 0, stream: false } as const;
  return { model, prompt, ...fields, ...extraBody };
}

export interface TopToken {
  readonly text: string;
  /** Natural logarithm of the probability. */
  readonly logprob: number;
}

/** A map a token (OpenAI, vLLM), or a list a token (llama.cpp). */
const nextTokenSchema = z.object({
  choices: z
    .array(
      z.object({
        logprobs: z
          .object({
            top_logprobs: z.array(z.record(z.string(), z.number()).nullish()).nullish(),
            content: z
              .array(
                z.object({ top_logprobs: z.array(z.object({ token: z.string(), logprob: z.number() })).nullish() }),
              )
              .nullish(),
          })
          .nullish()
          .catch(null),
      }),
    )
    .min(1),
});

function readTopTokens({ choices }: z.infer<typeof nextTokenSchema>, settings: OpenAISettings): TopToken[] {
  const logprobs = choices[0]?.logprobs;
  const mapped = Object.entries(logprobs?.top_logprobs?.[0] ?? {}).map(([text, logprob]) => ({ text, logprob }));
  const listed = logprobs?.content?.[0]?.top_logprobs ?? [];
  const top = mapped.length > 0 ? mapped : listed.map(({ token, logprob }) => ({ text: token, logprob }));
  if (top.length === 0) throw noProbabilities(settings, 'its answer holds no log-probabilities');
  return top;
}

/** What a server says of a key, a long prompt or its own trouble is told as it is; any other refusal means no reader. */
function toReaderError(error: unknown, settings: OpenAISettings, prompt: Prompt): unknown {
  if (!(error instanceof ServerFailure)) return error;
  const { facts } = error;
  if (facts.kind !== 'status' || [401, 403].includes(facts.status)) return error;
  if (isPassing(facts) || isContextExceeded(facts)) return error;
  return noProbabilities(settings, `POST /completions: ${toModelError(error, settings, prompt).message}`);
}

function noProbabilities({ baseUrl, model }: OpenAISettings, why: string): WinnowError {
  const message = `Rank needs next-token probabilities, and the server at ${baseUrl} does not give them (${why}). Use the list answer.`;
  return new WinnowError('model_refused', message, { details: { baseUrl, model } });
}

/** A separator stays with the word after it; scripts without case are cut at each character, as is all else. */
const PIECE = /[_\-./ ]?(?:\p{Lo}|\p{Lu}+(?!\p{Ll})|\p{Lu}?[\p{Ll}\p{M}]+|\p{N}+)|[\s\S]/gu;

export interface Pieces {
  /** Joined, the pieces of a text are the text. Equal pieces have equal numbers in every process: they go into cache keys. */
  tokenize(text: string): Token[];
  /** @throws RangeError for a number of another vocabulary */
  textOf(token: Token): string;
  /** Of a text that is one token of the server, whatever pieces it has. */
  tokenOf(text: string): Token;
}

export function createPieces(): Pieces {
  const texts = new Map<Token, string>();
  const numbers = new Map<string, Token>();
  const intern = (text: string): Token => {
    const known = numbers.get(text);
    if (known !== undefined) return known;
    let number = createHash('sha256').update(text).digest().readUIntBE(0, 6);
    while (texts.has(number)) number += 1;
    numbers.set(text, number);
    texts.set(number, text);
    return number;
  };
  return {
    tokenOf: intern,
    tokenize: (text) => (text.match(PIECE) ?? []).map(intern),
    textOf(token) {
      const text = texts.get(token);
      if (text === undefined) throw new RangeError(`Token ${token} is not of this vocabulary.`);
      return text;
    },
  };
}

/** How far below the least likely returned token one that was not returned is taken to be. */
const FLOOR_STEP = 1;

/**
 * Log weight of each piece: the probability of all tokens that begin it or that it begins. A token that fits several
 * pieces is shared out evenly, since nothing tells which was meant.
 */
export function weighPieces(pieces: readonly string[], top: readonly TopToken[]): number[] {
  const floor = Math.exp(Math.min(0, ...top.map((token) => token.logprob)) - FLOOR_STEP);
  const sums = pieces.map(() => 0);
  for (const token of top) {
    if (token.text === '') continue;
    const fitting = pieces.flatMap((piece, index) => (fits(piece, token.text) ? [index] : []));
    for (const index of fitting) sums[index] = (sums[index] ?? 0) + Math.exp(token.logprob) / fitting.length;
  }
  return sums.map((sum) => Math.log(Math.max(sum, floor)));
}

function fits(piece: string, token: string): boolean {
  return piece.startsWith(token) || token.startsWith(piece);
}
