/** Penalties on how a text goes on -> a bias on each token of the vocabulary that begins so. */
import type { Token, TokenBias } from 'node-llama-cpp';
import type { Penalty } from '../model.js';
import type { Runtime } from './runtime.js';

export interface PenaltyBias {
  /** What makes tokens that begin so less likely, by the highest penalty where several fit; without any, nothing. */
  biasFor(penalties: readonly Penalty[]): TokenBias;
}

export function createPenaltyBias({ library, model }: Runtime): PenaltyBias {
  const biases = new Map<string, TokenBias>();
  let vocabulary: readonly (readonly [Token, string])[] | undefined;
  const build = (penalties: readonly Penalty[]): TokenBias => {
    const bias = library.TokenBias.for(model);
    if (penalties.length === 0) return bias;
    vocabulary ??= [...model.iterateAllTokens()].map((token) => [token, model.detokenize([token])] as const);
    for (const [token, text] of vocabulary) {
      const fitting = penalties.filter(({ beginning }) => text.startsWith(beginning));
      if (fitting.length > 0) bias.set(token, { logit: -Math.max(...fitting.map(({ nats }) => nats)) });
    }
    return bias;
  };
  return {
    biasFor(penalties) {
      const key = JSON.stringify(penalties);
      const bias = biases.get(key) ?? build(penalties);
      biases.set(key, bias);
      return bias;
    },
  };
}
