/**
 * A model that keeps each answer in a file the moment it has it, so that a measurement can be stopped in any way and
 * goes on where it was, and a contestant with one part taken away costs only what nobody asked before. What an answer
 * cost is kept beside it (`KEY:cost`) and charged again with each use: every contestant pays for its own calls.
 */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import {
  addUsage,
  type Completion,
  type CompletionRequest,
  type Model,
  noUsage,
  type ReaderRequest,
  type TokenReader,
  type Usage,
  wrapModel,
} from '../../../src/core/model/model.js';
import { usageSchema } from '../../../src/core/result.js';
import { createTokenizer, readKeptCompletion } from '../../../src/eval/answer-cache.js';
import { type AppendStore, openAppendStore } from './append-store.js';

export interface Spent {
  /** Of the model, as measured when the answers were given. */
  milliseconds: number;
  usage: Usage;
  /** Model answers that were used. */
  answers: number;
  /** Of these, those that the model gave now. */
  fresh: number;
  /** Of these, those whose cost nobody wrote down: then time and tokens are not known. */
  unpriced: number;
}

export interface RememberedModel {
  readonly model: Model;
  /** What was used since the last call; for one request at a time. */
  takeSpent(): Spent;
  close(): void;
}

const likeliestSchema = z.array(z.object({ token: z.number(), text: z.string(), probability: z.number() }));
const weightsSchema = z.array(z.number().nullable());
const costSchema = z.object({ milliseconds: z.number(), usage: usageSchema });
type Cost = z.infer<typeof costSchema>;

/** @throws WinnowError `invalid_option` when the file can't be opened. */
export function rememberModel(model: Model, file: string): RememberedModel {
  const store = openAppendStore(file);
  const till = createTill(store);
  const keyOf = (...parts: unknown[]) =>
    createHash('sha256')
      .update(JSON.stringify([model.id, ...parts]))
      .digest('base64url')
      .slice(0, 22);
  const book: Book = { store, till, keyOf };
  const tokenizer = createTokenizer(model);
  return {
    model: wrapModel(model, {
      complete: (request) => complete(request, model, book),
      openReader: (request) => openReader(request, model, { ...book, tokenizer }),
    }),
    takeSpent: till.take,
    close: () => store.close(),
  };
}

interface Book {
  store: AppendStore;
  till: Till;
  keyOf: (...parts: unknown[]) => string;
}

async function complete(request: CompletionRequest, model: Model, { store, till, keyOf }: Book): Promise<Completion> {
  const { prompt, schema, maxTokens } = request;
  const key = keyOf('complete', prompt, schema, maxTokens);
  const known = readKeptCompletion(store.get(key));
  if (known) {
    till.chargeKnown(key);
    return known;
  }
  const startedAt = performance.now();
  const completion = await model.complete(request);
  till.chargeFresh(key, { milliseconds: since(startedAt), usage: completion.usage });
  store.put(key, completion);
  return completion;
}

/** Opened only for what is not known; a weighing is one entry. */
async function openReader(
  request: ReaderRequest,
  model: Model,
  { store, till, keyOf, tokenizer }: Book & { tokenizer: ReturnType<typeof createTokenizer> },
): Promise<TokenReader> {
  const base = keyOf('reader', request.prompt, request.opening);
  const tokenize = await tokenizer();
  const usage = { ...noUsage(), calls: 1 };
  let reader: TokenReader | undefined;
  let told = noUsage();
  const charge = (cost: Cost | undefined) => addUsage(usage, { ...(cost?.usage ?? noUsage()), calls: 0 });
  return {
    tokenize,
    usage: () => ({ ...usage }),
    async weigh(path, candidates) {
      const key = keyOf(base, path, candidates);
      const known = weightsSchema.safeParse(store.get(key));
      if (known.success) {
        charge(till.chargeKnown(key));
        return known.data.map((weight) => weight ?? Number.NEGATIVE_INFINITY);
      }
      const startedAt = performance.now();
      reader ??= await model.openReader?.(request);
      const weights = (await reader?.weigh(path, candidates)) ?? [];
      const now = reader?.usage() ?? noUsage();
      const cost = { milliseconds: since(startedAt), usage: differenceOf(now, told) };
      told = now;
      charge(till.chargeFresh(key, cost));
      store.put(key, weights);
      return weights;
    },
    async likeliest(path, count) {
      const key = keyOf(base, 'likeliest', path, count);
      const known = likeliestSchema.safeParse(store.get(key));
      if (known.success) {
        charge(till.chargeKnown(key));
        return known.data;
      }
      const startedAt = performance.now();
      reader ??= await model.openReader?.(request);
      const found = (await reader?.likeliest(path, count)) ?? [];
      const now = reader?.usage() ?? noUsage();
      const cost = { milliseconds: since(startedAt), usage: differenceOf(now, told) };
      told = now;
      charge(till.chargeFresh(key, cost));
      store.put(key, found);
      return found;
    },
    close: async () => reader?.close(),
  };
}

interface Till {
  /** The cost is written before its answer: a kill between the two leaves nothing without a price. */
  chargeFresh(key: string, cost: Cost): Cost;
  chargeKnown(key: string): Cost | undefined;
  take(): Spent;
}

function createTill(store: AppendStore): Till {
  let spent = noSpent();
  const charge = (cost: Cost): Cost => {
    spent.milliseconds += cost.milliseconds;
    spent.answers += 1;
    addUsage(spent.usage, cost.usage);
    return cost;
  };
  return {
    chargeFresh(key, cost) {
      store.put(`${key}:cost`, cost);
      spent.fresh += 1;
      return charge(cost);
    },
    chargeKnown(key) {
      const cost = costSchema.safeParse(store.get(`${key}:cost`));
      if (cost.success) return charge(cost.data);
      spent.answers += 1;
      spent.unpriced += 1;
      return undefined;
    },
    take() {
      const taken = spent;
      spent = noSpent();
      return taken;
    },
  };
}

export function noSpent(): Spent {
  return { milliseconds: 0, usage: noUsage(), answers: 0, fresh: 0, unpriced: 0 };
}

function differenceOf(now: Usage, before: Usage): Usage {
  return {
    calls: now.calls - before.calls,
    read: now.read - before.read,
    cached: now.cached - before.cached,
    written: now.written - before.written,
  };
}

const since = (startedAt: number) => Math.round((performance.now() - startedAt) * 10) / 10;
