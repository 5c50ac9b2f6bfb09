/** Next-token weights of the embedded model, with the tokens common to two questions read once. */
import type { LlamaContextSequence, Token } from 'node-llama-cpp';
import { throwIfCancelled, WinnowError } from '../../errors.js';
import type { TokenReader, Usage } from '../model.js';
import type { Runtime } from './runtime.js';
import { rewind } from './sequence-pool.js';

export interface ReaderState {
  sequence: LlamaContextSequence;
  /** Prompt and opening. */
  base: readonly Token[];
  usage: Usage;
  signal: AbortSignal | undefined;
  release(): void;
}

export function createTokenReader({ model }: Pick<Runtime, 'model'>, state: ReaderState): TokenReader {
  const { sequence, base, usage, signal } = state;
  return {
    tokenize: (text) => model.tokenize(text, false),
    usage: () => ({ ...usage }),
    async weigh(path, candidates) {
      throwIfCancelled(signal);
      const tokens = [...base, ...path].map((token) => token as Token);
      await rewind(sequence, tokens, tokens.length - 1);
      const rest = tokens.slice(sequence.nextTokenIndex);
      const last = rest.length - 1;
      const filter = { tokens: candidates.map((token) => token as Token) };
      const input = rest.map((token, place): Token | [Token, object] =>
        place === last ? [token, { generateNext: { logits: { filter } } }] : token,
      );
      usage.read += rest.length;
      const output = await sequence.controlledEvaluate(input);
      const logits = output[last]?.next.logits;
      if (!logits) throw new WinnowError('model_failed', 'The local model gave no token weights.');
      return filter.tokens.map((token) => logits.get(token) ?? Number.NEGATIVE_INFINITY);
    },
    async close() {
      state.release();
    },
  };
}
