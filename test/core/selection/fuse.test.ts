import { describe, expect, it } from '@jest/globals';
import { fuse, keywordLead, pool } from '../../../src/core/selection/fuse.js';
import { makeTool } from './setup.js';

const a = makeTool('a');
const b = makeTool('b');
const c = makeTool('c');
const d = makeTool('d');

interface Given {
  model?: readonly (readonly [typeof a, number])[];
  keywords?: readonly (readonly [typeof a, number])[];
  keywordWeight?: number;
}

function opinions({ model = [], keywords = [], keywordWeight = 1 }: Given) {
  return {
    probabilities: new Map(model),
    keywords: keywords.map(([tool, score]) => ({ tool, score })),
    keywordWeight,
  };
}

const order = (given: Given) => fuse(opinions(given)).map(({ tool }) => tool.name);

describe('two opinions', () => {
  const wavering = [
    [a, 0.4],
    [b, 0.35],
  ] as const;

  it('are one order: keywords decide where the model wavers', () => {
    expect(order({ model: wavering })).toEqual(['a', 'b']);
    expect(order({ model: wavering, keywords: [[b, 0.5]] })).toEqual(['b', 'a']);
    expect(order({ model: wavering, keywords: [[c, 0.5]] })).toEqual(['c', 'a', 'b']);
  });

  it('leave the model its choice where it is sure and keywords waver', () => {
    const keywords = [
      [b, 0.5],
      [a, 0.4],
    ] as const;
    expect(order({ model: [[a, 0.95]], keywords })).toEqual(['a', 'b']);
  });

  it('count keywords less where the best of them covers little of the request', () => {
    expect(order({ model: wavering, keywords: [[c, 0.2]] })).toEqual(['c', 'a', 'b']);
    expect(order({ model: wavering, keywords: [[c, 0.05]] })).toEqual(['a', 'b', 'c']);
  });

  it('are those of the model alone at a weight of 0', () => {
    expect(order({ model: wavering, keywords: [[c, 0.9]], keywordWeight: 0 })).toEqual(['a', 'b']);
  });

  it('tell where each tool stands beside the best, and have a probability only from the model', () => {
    const named = fuse(opinions({ model: [[a, 0.5]], keywords: [[c, 0.5]] }));
    expect(named).toEqual([
      { tool: c, standing: 1 },
      { tool: a, standing: 0.5, probability: 0.5 },
    ]);
  });

  it('may both be missing', () => {
    expect(order({})).toEqual([]);
    expect(order({ model: [[a, 0]] })).toEqual(['a']);
  });
});

describe('the lead of keywords', () => {
  const keywords = [
    [a, 0.6],
    [b, 0.45],
  ] as const;
  const lead = (tools: readonly (typeof a)[], given: Given) => keywordLead(new Set(tools), opinions(given));

  it('is how far the chosen are ahead of the rest', () => {
    expect(lead([a], { keywords })).toBeCloseTo(0.25, 9);
    expect(lead([a, b], { keywords })).toBe(1);
    expect(lead([b], { keywords })).toBe(0);
    expect(lead([a], {})).toBe(0);
  });

  it('is small where the best match covers little, and none at a weight of 0', () => {
    expect(lead([a], { keywords: [[a, 0.05]] })).toBeCloseTo(0.25, 9);
    expect(lead([a], { keywords, keywordWeight: 0 })).toBe(0);
  });
});

describe('the names for free room', () => {
  const pooled = (given: Given) =>
    pool(
      [...(given.model ?? []).map(([tool, probability]) => ({ tool, probability })), { tool: d }],
      opinions({ keywordWeight: 0.5, ...given }),
    ).map(({ tool }) => tool.name);
  const model = [
    [a, 0.2],
    [b, 0.05],
    [c, 0.01],
  ] as const;

  it('are those that both opinions stand for, before those of one alone', () => {
    expect(pooled({ model })).toEqual(['a', 'b', 'c', 'd']);
    expect(pooled({ model, keywords: [[b, 0.5]] })).toEqual(['b', 'a', 'c', 'd']);
    expect(
      pooled({
        model,
        keywords: [
          [d, 0.5],
          [b, 0.4],
        ],
      }),
    ).toEqual(['b', 'a', 'd', 'c']);
  });

  it('are in the order of the model where keywords count nothing, or hardly cover the request', () => {
    expect(pooled({ model, keywords: [[b, 0.5]], keywordWeight: 0 })).toEqual(['a', 'b', 'c', 'd']);
    expect(pooled({ model, keywords: [[b, 0.05]] })).toEqual(['a', 'b', 'c', 'd']);
  });
});
