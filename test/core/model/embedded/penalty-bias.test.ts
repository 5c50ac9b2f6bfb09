import { expect, it } from '@jest/globals';
import { createPenaltyBias } from '../../../../src/core/model/embedded/penalty-bias.js';
import type { Runtime } from '../../../../src/core/model/embedded/runtime.js';

const TEXTS = ['}', '},', '}]', '}]}', 'a', ','];

function setUp() {
  const built: Map<number, unknown>[] = [];
  const runtime = {
    library: {
      TokenBias: {
        for() {
          const bias = new Map<number, unknown>();
          built.push(bias);
          return bias;
        },
      },
    },
    model: { iterateAllTokens: () => TEXTS.keys(), detokenize: ([token = 0]: number[]) => TEXTS[token] },
  };
  const { biasFor } = createPenaltyBias(runtime as unknown as Runtime);
  const byText = (penalties: Parameters<typeof biasFor>[0]) =>
    Object.fromEntries(
      [...(biasFor(penalties) as unknown as Map<number, unknown>)].map(([at, one]) => [TEXTS[at], one]),
    );
  return { built, byText };
}

it('makes each token less likely that begins so, by the highest penalty that fits', () => {
  const { byText } = setUp();
  expect(byText([{ beginning: '}]', nats: 5 }])).toEqual({ '}]': { logit: -5 }, '}]}': { logit: -5 } });
  const both = [
    { beginning: '}', nats: 2 },
    { beginning: '}]', nats: 5 },
  ];
  expect(byText(both)).toEqual({
    '}': { logit: -2 },
    '},': { logit: -2 },
    '}]': { logit: -5 },
    '}]}': { logit: -5 },
  });
  expect(byText([])).toEqual({});
});

it('is made once for the same penalties', () => {
  const { built, byText } = setUp();
  for (const nats of [2, 2, 3]) byText([{ beginning: ',', nats }]);
  expect(built).toHaveLength(2);
});
