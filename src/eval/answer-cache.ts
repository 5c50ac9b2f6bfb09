/**
 * A model that remembers its answers on the disk: what was asked before, word for word, of the same model under the
 * same limits, is not asked again. A remembered answer tells the tokens that it cost when it was given. Failures are
 * not remembered.
 */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { z } from 'zod';
import { throwIfCancelled } from '../core/errors.js';
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
import { type AppendStore, openAppendStore } from './append-store.js';
import { readKeptCompletion } from './kept-completion.js';
import { createTokenizer, type Tokenizer } from './tokenizer.js';

export interface AnswerCache {
  model: Model;
  /** Whether the call was answered without the model. */
  wasRemembered(request: CompletionRequest | ReaderRequest): boolean;
  close(): void;
}

/** Below Winnow's cache folder; `winnow eval cache clear` takes it away. */
export const ANSWERS_FOLDER = 'answers';

const likelyTokenSchema = z.object({
  token: z.union([z.number(), z.string()]),
  text: z.string(),
  probability: z.number(),
});

const readingSchema = z.object({
  usage: usageSchema,
  /** Hash of path and candidates -> their weights; null stands for minus infinity, which JSON does not know. */
  weights: z.record(z.string(), z.array(z.number().nullable())),
  /** Hash of path and count -> the likeliest tokens. */
  likeliest: z.record(z.string(), z.array(likelyTokenSchema)).default({}),
});
type Reading = z.infer<typeof readingSchema>;

export interface AnswerCacheOptions {
  folder: string;
  /** Whatever besides the model's id and limits changes answers, such as the address of its server. Only its hash is kept. */
  parameters?: Readonly<Record<string, unknown>>;
}

export function createAnswerCache(model: Model, { folder, parameters = {} }: AnswerCacheOptions): AnswerCache {
  const identity = hashOf([model.id, model.limits, parameters]);
  const store = openAppendStore(join(folder, `${identity}.jsonl`));
  const remembered = new WeakSet<object>();
  const tokenizer = createTokenizer(model);
  return {
    model: wrapModel(model, {
      complete: (request) => complete(request, { model, store, remembered }),
      openReader: (request, open) => openReader(request, { open, store, remembered, tokenizer }),
    }),
    wasRemembered: (request) => remembered.has(request),
    close: () => store.close(),
  };
}

interface Parts {
  store: AppendStore;
  remembered: WeakSet<object>;
}

async function complete(
  request: CompletionRequest,
  { model, store, remembered }: Parts & { model: Model },
): Promise<Completion> {
  throwIfCancelled(request.signal);
  const { prompt, schema, maxTokens } = request;
  const key = hashOf(['complete', prompt.system, prompt.user, schema, maxTokens]);
  const known = readKeptCompletion(store.get(key));
  if (known) {
    remembered.add(request);
    return known;
  }
  const completion = await model.complete(request);
  store.put(key, completion);
  return completion;
}

/** A reading is one entry, written when its reader is closed: what it found besides what was known. */
async function openReader(
  request: ReaderRequest,
  { open, store, remembered, tokenizer }: Parts & { open: NonNullable<Model['openReader']>; tokenizer: Tokenizer },
): Promise<TokenReader> {
  throwIfCancelled(request.signal);
  const key = hashOf(['read', request.prompt.system, request.prompt.user, request.opening]);
  const known = readingSchema.safeParse(store.get(key));
  const before: Reading = known.success ? known.data : { usage: noUsage(), weights: {}, likeliest: {} };
  const fresh: Reading['weights'] = {};
  const freshLikeliest: Reading['likeliest'] = {};
  const tokenize = await tokenizer();
  let reader: TokenReader | undefined;
  const usage = () => sumUsage(before.usage, reader?.usage() ?? noUsage());
  if (known.success) remembered.add(request);
  else reader = await open(request);
  return {
    tokenize,
    usage,
    async weigh(path, candidates) {
      throwIfCancelled(request.signal);
      const place = hashOf([path, candidates]);
      const weights = before.weights[place] ?? fresh[place];
      if (weights) return weights.map((weight) => weight ?? Number.NEGATIVE_INFINITY);
      remembered.delete(request);
      reader ??= await open(request);
      const read = await reader.weigh(path, candidates);
      fresh[place] = read.map((weight) => (Number.isFinite(weight) ? weight : null));
      return read;
    },
    async likeliest(path, count) {
      throwIfCancelled(request.signal);
      const place = hashOf([path, count]);
      const known = before.likeliest[place] ?? freshLikeliest[place];
      if (known) return known;
      remembered.delete(request);
      reader ??= await open(request);
      const read = [...(await reader.likeliest(path, count))];
      freshLikeliest[place] = read;
      return read;
    },
    async close(found) {
      try {
        if (reader && Object.keys(fresh).length + Object.keys(freshLikeliest).length > 0)
          store.put(key, {
            usage: usage(),
            weights: { ...before.weights, ...fresh },
            likeliest: { ...before.likeliest, ...freshLikeliest },
          });
      } finally {
        await reader?.close(found);
      }
    },
  };
}

function hashOf(parts: unknown): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 22);
}
