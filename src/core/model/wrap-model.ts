/** A model in front of another: it answers for it, and is the same in all else. */
import type { Model, ReaderRequest, TokenReader } from './model.js';

export interface WrappedCalls {
  complete: Model['complete'];
  /** Called only where the inner model has readers; `open` opens one of them. */
  openReader(request: ReaderRequest, open: NonNullable<Model['openReader']>): Promise<TokenReader>;
}

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
