/** What every implementation of the model seam must do. Run against each of them, with real weights too. */
import { getEventListeners } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type {
  CompletionRequest,
  Model,
  ReaderRequest,
  Token,
  TokenReader,
  Usage,
} from '../../../src/core/model/model.js';

export interface ContractOptions {
  /** Longest time of one test, in milliseconds. Default: 5,000. */
  timeoutMs?: number;
  /** Whether next-token probabilities can be had. Default: true. */
  hasReader?: boolean;
}

const FRUITS = ['banana', 'quince', 'strawberry'];
const FRUIT_SCHEMA = {
  name: 'fruit',
  schema: {
    type: 'object',
    properties: { fruit: { type: 'string', enum: FRUITS } },
    required: ['fruit'],
    additionalProperties: false,
  },
};

/** Says what it wants so plainly that a small model follows. */
export const FRUIT_REQUEST: CompletionRequest = {
  stage: 'selection',
  prompt: {
    system: `Repeat the fruit of the request as JSON: {"fruit": "..."}. Fruits: ${FRUITS.join(', ')}.`,
    user: 'banana',
  },
  schema: FRUIT_SCHEMA,
  maxTokens: 60,
};

/** What an error tells of the tokens that were spent until then. */
const ANY_USAGE = Object.fromEntries(
  ['calls', 'read', 'cached', 'written'].map((count) => [count, expect.any(Number)]),
);

const LONG_ANSWER: CompletionRequest = {
  stage: 'planning',
  prompt: { system: 'You write long answers.', user: 'Write the numbers from one to one hundred as words.' },
  maxTokens: 3,
};

/** `makeModel` is called once; the last test closes the model. */
export function describeModelContract(
  name: string,
  makeModel: () => Promise<Model>,
  { timeoutMs = 5_000, hasReader = true }: ContractOptions = {},
): void {
  describe(`the model contract, kept by ${name}`, { timeout: timeoutMs }, () => {
    let model: Model;
    beforeAll(async () => {
      model = await makeModel();
    }, timeoutMs);
    afterAll(() => model?.close(), timeoutMs);

    describeAnswers(() => model);
    describeRefusals(() => model);
    if (hasReader) describeReader(() => model);
    it('may be closed more than once', async () => {
      await model.close();
      await expect(model.close()).resolves.toBeUndefined();
    });
  });
}

function describeAnswers(model: () => Model): void {
  it('answers a prompt and counts what it took', async () => {
    const { schema: _schema, ...plain } = FRUIT_REQUEST;
    const completion = await model().complete(plain);
    expect(completion.text).not.toBe('');
    expectSpent(completion.usage);
    expect(completion.usage.written).toBeGreaterThan(0);
  });

  it('answers under a schema with JSON that keeps to it', async () => {
    const completion = await model().complete(FRUIT_REQUEST);
    const parsed: unknown = JSON.parse(completion.text);
    expect(parsed).toEqual({ fruit: expect.stringMatching(new RegExp(`^(${FRUITS.join('|')})$`)) });
    expect(completion.finish).toBe('stop');
  });

  it('says so when the answer was cut at maxTokens', async () => {
    const completion = await model().complete(LONG_ANSWER);
    expect(completion.finish).toBe('length');
  });

  it('answers every one of several calls at once', async () => {
    const completions = await Promise.all([1, 2, 3].map(() => model().complete(FRUIT_REQUEST)));
    for (const { text } of completions) expect(JSON.parse(text)).toHaveProperty('fruit');
  });

  it('counts tokens: none for nothing, and about the sum for two texts joined', () => {
    const first = 'Get the latest water level of a reservoir.\n';
    const second = '查询水库最新水位。\n';
    const sum = model().countTokens(first) + model().countTokens(second);
    const joined = model().countTokens(first + second);
    expect(model().countTokens('')).toBe(0);
    expect(model().countTokens(second)).toBeGreaterThan(0);
    expect(Math.abs(joined - sum)).toBeLessThanOrEqual(3);
  });
}

function describeRefusals(model: () => Model): void {
  it('does not begin a call that was cancelled before', async () => {
    const signal = AbortSignal.abort();
    await expect(model().complete({ ...FRUIT_REQUEST, signal })).rejects.toMatchObject({ code: 'cancelled' });
  });

  it('ends a call that is cancelled while it runs, and answers the next one', async () => {
    const controller = new AbortController();
    const pending = model().complete({ ...FRUIT_REQUEST, signal: controller.signal });
    controller.abort();
    await expect(pending).rejects.toMatchObject({ code: 'cancelled', details: { usage: ANY_USAGE } });
    await expect(model().complete(FRUIT_REQUEST)).resolves.toHaveProperty('text');
  });

  it('leaves no listener on a signal that many calls share', async () => {
    const { signal } = new AbortController();
    for (let call = 0; call < 3; call += 1) await model().complete({ ...FRUIT_REQUEST, signal });
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });

  it('refuses a prompt that is larger than its context', async () => {
    let user = 'The river rises and the gate is closed. ';
    while (model().countTokens(user) <= 1.5 * model().limits.contextTokens) user += user;
    const request = { ...FRUIT_REQUEST, prompt: { ...FRUIT_REQUEST.prompt, user } };
    await expect(model().complete(request)).rejects.toMatchObject({
      code: 'context_exceeded',
      details: { usage: { ...ANY_USAGE, written: 0 } },
    });
  });
}

function describeReader(model: () => Model): void {
  const { prompt } = FRUIT_REQUEST;
  const reading = async (use: (reader: TokenReader) => Promise<void>, more: Partial<ReaderRequest> = {}) => {
    const reader = await model().openReader?.({ prompt, opening: '{"fruit": "', ...more });
    if (reader === undefined) throw new Error('The model has no openReader.');
    try {
      await use(reader);
    } finally {
      await reader.close();
    }
  };

  it('a reader weighs the likeliest token highest, at the start and along a path', () =>
    reading(async (reader) => {
      const names = FRUITS.map((fruit) => reader.tokenize(`${fruit}"`));
      expect(bestOf(await reader.weigh([], names.map(first)))).toBe(0);
      const banana = reader.tokenize('banana');
      const [quote, other] = [first(reader.tokenize('"')), first(reader.tokenize('quince'))];
      expect(bestOf(await reader.weigh(banana, [other, quote]))).toBe(1);
    }));

  it('a reader gives one finite weight a candidate and counts what it read', () =>
    reading(async (reader) => {
      const candidates = FRUITS.map((fruit) => first(reader.tokenize(fruit)));
      const weights = await reader.weigh([], candidates);
      expect(weights).toHaveLength(candidates.length);
      expect(weights.every(Number.isFinite)).toBe(true);
      expectSpent(reader.usage());
    }));

  it('a reader stops when its signal fires, and the next one works', async () => {
    const controller = new AbortController();
    await reading(
      async (reader) => {
        const candidates = [first(reader.tokenize('quince'))];
        controller.abort();
        await expect(reader.weigh([], candidates)).rejects.toMatchObject({ code: 'cancelled' });
      },
      { signal: controller.signal },
    );
    await reading(async (reader) => {
      await expect(reader.weigh([], [first(reader.tokenize('quince'))])).resolves.toHaveLength(1);
    });
  });
}

function expectSpent(usage: Usage): void {
  expect(usage.calls).toBeGreaterThanOrEqual(1);
  expect(usage.read + usage.cached).toBeGreaterThan(0);
}

function first(tokens: readonly Token[]): Token {
  const [token] = tokens;
  if (token === undefined) throw new Error('A text has no tokens.');
  return token;
}

function bestOf(weights: readonly number[]): number {
  return weights.indexOf(Math.max(...weights));
}
