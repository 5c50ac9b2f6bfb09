/** A model's tokenizer for those who answer from what is remembered: one reader is opened for it, at the first use. */

import { createOpening } from '../core/kept.js';
import type { Model, TokenReader } from '../core/model/model.js';

export type Tokenizer = () => Promise<TokenReader['tokenize']>;

/** Where it can't be opened, the next use tries again. @throws what `openReader` throws */
export function createTokenizer(model: Model): Tokenizer {
  const opening = createOpening(async (): Promise<TokenReader['tokenize']> => {
    // Tokenizing needs no prompt of its own.
    const reader = await model.openReader?.({ prompt: { system: 'x', user: 'x' }, opening: '"' });
    await reader?.close();
    return (text) => reader?.tokenize(text) ?? [];
  });
  return opening.get;
}
