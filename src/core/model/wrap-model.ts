/** A model in front of another, and a reader in front of another: for logs, caches and budgets. */
import type { Model, ReaderRequest, TokenReader } from './model.js';

export interface WrappedCalls {
  complete: Model['complete'];
  /** Called only where the inner model has readers; `open` opens one of them. */
  openReader(request: ReaderRequest, open: NonNullable<Model['openReader']>): Promise<TokenReader>;
}

/** Answers for the inner model, and is the same in all else. */
export function wrapModel(model: Model, { complete, openReader }: WrappedCalls): Model {
  const { id, limits, preferredAnswer } = model;
  const open = model.openReader?.bind(model);
  return {
    id,
    limits,
    preferredAnswer,
    complete,
    ...(open ? { openReader: (request) => openReader(request, open) } : {}),
    countTokens: (text) => model.countTokens(text),
    close: () => model.close(),
  };
}

export interface ReadAnswer extends Readonly<Record<string, unknown>> {
  readonly weighed: number;
}

export interface ReaderWatch {
  /** The reader could not be opened; the error goes on to the caller. */
  onRefused(error: unknown): void;
  /** Called just before the reader closes, with the last error of a weighing and with what was found. */
  onClose(reader: TokenReader, failure: { readonly error: unknown } | undefined, answer: ReadAnswer): void;
}

/** Opens a reader whose end is watched; what it reads is left alone. */
export async function watchReader(
  open: NonNullable<Model['openReader']>,
  request: ReaderRequest,
  watch: ReaderWatch,
): Promise<TokenReader> {
  const reader = await open(request).catch((error: unknown) => {
    watch.onRefused(error);
    throw error;
  });
  let failure: { readonly error: unknown } | undefined;
  let weighed = 0;
  const counted = async <T>(work: Promise<T>): Promise<T> => {
    weighed += 1;
    try {
      return await work;
    } catch (error) {
      failure = { error };
      throw error;
    }
  };
  return {
    tokenize: (text) => reader.tokenize(text),
    usage: () => reader.usage(),
    weigh: (path, candidates) => counted(reader.weigh(path, candidates)),
    likeliest: (path, count) => counted(reader.likeliest(path, count)),
    async close(found) {
      watch.onClose(reader, failure, { weighed, ...found });
      await reader.close(found);
    },
  };
}
