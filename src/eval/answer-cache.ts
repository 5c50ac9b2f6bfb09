/**
 * A model with a cache of answers on the disk, keyed by the exact request, the model and its limits. A cached answer reports its
 * original tokens. Failures are not cached.
 */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { z } from 'zod';
import { throwIfCancelled } from '../core/errors.js';
import { createOpening } from '../core/kept.js';
import {
  type Completion,
  type CompletionRequest,
  type Model,
  noUsage,
  type ReaderRequest,
  sumUsage,
  type TokenReader,
  wrapModel,
} from '../core/model/model.js';
import { usageSchema } from '../core/result.js';
import { openRunStore } from './run-store.js';

export interface AnswerCache {
  model: Model;
  /** Whether the cache answered the call. */
  wasRemembered(request: CompletionRequest | ReaderRequest): boolean;
  close(): Promise<void>;
}

/** Folder inside Winnow's cache folder. */
export const ANSWERS_FOLDER = 'answers';

const completionSchema = z.object({
  text: z.string(),
  finish: z.enum(['stop', 'length', 'loop']),
  usage: usageSchema,
  logprobs: z.array(z.object({ text: z.string(), logprob: z.number() })).exactOptional(),
});

const likelyTokenSchema = z.object({
  token: z.union([z.number(), z.string()]),
  text: z.string(),
  probability: z.number(),
});

const readingSchema = z.object({
  usage: usageSchema,
  /** Hash of path and candidates -> their weights; null stands for minus infinity, which JSON can't write. */
  weights: z.record(z.string(), z.array(z.number().nullable())),
  /** Hash of path and count -> the likeliest tokens. */
  likeliest: z.record(z.string(), z.array(likelyTokenSchema)),
});

export interface AnswerCacheOptions {
  folder: string;
  /** All else that changes answers, such as the server's address. Only its hash is kept. */
  parameters?: Readonly<Record<string, unknown>>;
}

export function createAnswerCache(model: Model, { folder, parameters = {} }: AnswerCacheOptions): AnswerCache {
  const scope = hashOf([model.id, model.limits, parameters]);
  const store = createOpening(() => openRunStore(join(folder, 'answers.db')));
  const remembered = new WeakSet<object>();
  const tokenizer = createTokenizer(model);

  const complete = async (request: CompletionRequest): Promise<Completion> => {
    throwIfCancelled(request.signal);
    const { prompt, schema, maxTokens } = request;
    const key = hashOf(['complete', prompt.system, prompt.user, schema, maxTokens]);
    const known = completionSchema.safeParse(await (await store.get()).recall(scope, key)).data;
    if (known) {
      remembered.add(request);
      return known;
    }
    const completion = await model.complete(request);
    await (await store.get()).remember(scope, key, completion);
    return completion;
  };

  /** Each reading is one entry; closing its reader writes what it added. */
  const openReader = async (request: ReaderRequest, open: NonNullable<Model['openReader']>): Promise<TokenReader> => {
    throwIfCancelled(request.signal);
    const key = hashOf(['read log-probabilities', request.prompt.system, request.prompt.user, request.opening]);
    const kept = readingSchema.safeParse(await (await store.get()).recall(scope, key));
    const { usage: before, weights, likeliest } = kept.data ?? { usage: noUsage(), weights: {}, likeliest: {} };
    const { tokenize, detokenize } = await tokenizer();
    let reader: TokenReader | undefined;
    let isChanged = false;
    if (kept.success) remembered.add(request);
    else reader = await open(request);
    const usage = () => sumUsage(before, reader?.usage() ?? noUsage());
    /** Looks a value up, or reads and adds it. */
    const find = async <T>(known: Record<string, T>, place: string, read: (one: TokenReader) => Promise<T>) => {
      throwIfCancelled(request.signal);
      const there = known[place];
      if (there !== undefined) return there;
      remembered.delete(request);
      reader ??= await open(request);
      const found = await read(reader);
      known[place] = found;
      isChanged = true;
      return found;
    };
    return {
      tokenize,
      detokenize,
      usage,
      async weigh(path, candidates, ahead) {
        const found = await find(weights, hashOf([path, candidates]), async (one) =>
          (await one.weigh(path, candidates, ahead)).map((weight) => (Number.isFinite(weight) ? weight : null)),
        );
        return found.map((weight) => weight ?? Number.NEGATIVE_INFINITY);
      },
      likeliest: (path, count, isWriting) =>
        find(likeliest, hashOf([path, count]), async (one) => [...(await one.likeliest(path, count, isWriting))]),
      async close(found) {
        try {
          if (isChanged) await (await store.get()).remember(scope, key, { usage: usage(), weights, likeliest });
        } finally {
          await reader?.close(found);
        }
      },
    };
  };

  return {
    model: wrapModel(model, { complete, openReader }),
    wasRemembered: (request) => remembered.has(request),
    close: async () => (await store.peek())?.close(),
  };
}

/** The model's tokenizer for cached readings; the first use opens its reader. */
function createTokenizer(model: Model): () => Promise<Pick<TokenReader, 'tokenize' | 'detokenize'>> {
  return createOpening(async (): Promise<Pick<TokenReader, 'tokenize' | 'detokenize'>> => {
    // Tokenizing needs no prompt of its own.
    const reader = await model.openReader?.({ prompt: { system: 'x', user: 'x' }, opening: '"' });
    await reader?.close();
    return {
      tokenize: (text) => reader?.tokenize(text) ?? [],
      detokenize: (tokens) => reader?.detokenize(tokens) ?? '',
    };
  }).get;
}

function hashOf(parts: unknown): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 22);
}
