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
  /** Evaluates what the sequence does not hold yet, in one batch. */
  const next = async (path: readonly number[], generateNext: object) => {
    throwIfCancelled(signal);
    const tokens = [...base, ...path].map((token) => token as Token);
    await rewind(sequence, tokens, tokens.length - 1);
    const rest = tokens.slice(sequence.nextTokenIndex);
    const last = rest.length - 1;
    const input = rest.map((token, place): Token | [Token, object] =>
      place === last ? [token, { generateNext }] : token,
    );
    usage.read += rest.length;
    const output = await sequence.controlledEvaluate(input);
    return output[last]?.next ?? {};
  };
  return {
    tokenize: (text) => model.tokenize(text, false),
    usage: () => ({ ...usage }),
    async weigh(path, candidates) {
      const { logits } = await next(path, { logits: { filter: { tokens: candidates } } });
      if (!logits) throw new WinnowError('model_failed', 'The local model gave no token weights.');
      return candidates.map((token) => logits.get(token as Token) ?? Number.NEGATIVE_INFINITY);
    },
    async likeliest(path, count) {
      const wanted = { logits: { filter: { tokens: [], includeTop: count } }, totalLogitWeight: true };
      const { logits, totalLogitWeight } = await next(path, wanted);
      if (!logits || !totalLogitWeight) throw new WinnowError('model_failed', 'The local model gave no token weights.');
      const best = Math.max(...logits.values());
      return [...logits].map(([token, logit]) => ({
        token,
        text: model.detokenize([token]),
        probability: Math.exp(logit - best) / totalLogitWeight,
      }));
    },
    async close() {
      state.release();
    },
  };
}
