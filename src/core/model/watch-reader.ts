/** A reader that tells when it is closed, and whether something went wrong on the way; what it reads is left alone. */
import type { Model, ReaderRequest, TokenReader } from './model.js';

export interface ReadAnswer extends Readonly<Record<string, unknown>> {
  readonly weighed: number;
}

export interface ReaderWatch {
  /** It could not be opened; the error goes on to the caller. */
  onRefused(error: unknown): void;
  /** Told just before it is closed, with the last error of a weighing, and with what was found. */
  onClose(reader: TokenReader, failure: { readonly error: unknown } | undefined, answer: ReadAnswer): void;
}

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
