import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Choice,
  createChoiceTrie,
  createNameTrie,
  likelihoodOf,
  probabilityOf,
  type RankOptions,
  rankNames,
  type TrieNode,
} from '../../../src/core/model/choices.js';
import type { Token, TokenReader } from '../../../src/core/model/model.js';
import { createScriptedModel, type ScriptedReader } from '../../support/scripted-model.js';
import { answering } from '../planning/decide/setup.js';

const OPTIONS: RankOptions = { names: 10, maxSteps: 100, minProbability: 0 };

async function rank(
  script: Record<string, number>,
  options: Partial<RankOptions> = {},
  by: ScriptedReader['tokenizeBy'] = 'piece',
) {
  const probabilities = new Map(Object.entries(script));
  const model = createScriptedModel({ readers: [{ probabilities, tokenizeBy: by }] });
  const reader = await model.openReader?.({ prompt: { system: '', user: '' }, opening: '["' });
  if (!reader) throw new Error('no reader');
  const ranked = await rankNames(createNameTrie([...probabilities.keys()], reader), reader, { ...OPTIONS, ...options });
  return { ranked, names: ranked.map(({ name }) => name), steps: reader.usage().calls };
}

const SOME = { get_user: 0.4, get_group_all: 0.1, list: 0.3, get: 0.15, delete_user: 0.05 };

describe('ranking along the trie', () => {
  it.each(['character', 'piece'] as const)('gives all names best first with their probabilities, by %s', async (by) => {
    const { ranked, names } = await rank(SOME, {}, by);
    expect(names).toEqual(['get_user', 'list', 'get', 'get_group_all', 'delete_user']);
    for (const { name, probability } of ranked) expect(probability).toBeCloseTo(SOME[name as keyof typeof SOME], 5);
  });

  it('tells names apart that begin other names', async () => {
    expect((await rank({ get: 0.1, get_all: 0.2, get_all_users: 0.7 })).names).toEqual([
      'get_all_users',
      'get_all',
      'get',
    ]);
    expect((await rank({ get: 0.7, get_all: 0.2, get_all_users: 0.1 })).names).toEqual([
      'get',
      'get_all',
      'get_all_users',
    ]);
  });

  it('asks nothing where there is only one way on', async () => {
    expect(await rank({ the_only_name_there_is: 1 })).toMatchObject({ names: ['the_only_name_there_is'], steps: 0 });
    expect((await rank({ one_long_name: 0.6, two_long_name: 0.4 })).steps).toBe(1);
  });

  it('stops at the names that are wanted', async () => {
    const script = { one_a: 0.5, one_b: 0.2, two_a: 0.2, two_b: 0.1 };
    expect(await rank(script, { names: 1 })).toMatchObject({ names: ['one_a'], steps: 2 });
    expect(await rank(script)).toMatchObject({ names: ['one_a', 'one_b', 'two_a', 'two_b'], steps: 3 });
  });

  it.each([0, 1, 2])('takes no more than %d steps', async (maxSteps) => {
    const { steps, names } = await rank(SOME, { maxSteps }, 'character');
    expect(steps).toBe(maxSteps);
    expect(names.length).toBeLessThan(5);
  });

  it('still gives what it has found when the steps run out', async () => {
    expect((await rank(SOME, { maxSteps: 1 })).names).toEqual(['list', 'delete_user']);
  });

  it('does not open what is too unlikely', async () => {
    const names = { big: 0.98, small_one: 0.01, small_two: 0.01 };
    expect((await rank(names, { minProbability: 0.1 })).names).toEqual(['big']);
    expect((await rank(names)).names).toHaveLength(3);
  });

  it('never gives a name twice or one that was not there, and probabilities that sum to 1', async () => {
    const name = fc.stringMatching(/^[a-c_]{1,6}$/);
    const scripts = fc.dictionary(name, fc.double({ min: 0.001, max: 1, noNaN: true }), { minKeys: 1, maxKeys: 9 });
    await fc.assert(
      fc.asyncProperty(scripts, fc.constantFrom('character', 'piece'), async (script, by) => {
        const { ranked, names } = await rank(script, { names: 20 }, by);
        expect([...names].sort()).toEqual(Object.keys(script).sort());
        const probabilities = ranked.map(({ probability }) => probability);
        expect(probabilities).toEqual([...probabilities].sort((a, b) => b - a));
        expect(probabilities.reduce((sum, one) => sum + one, 0)).toBeCloseTo(1, 5);
      }),
      { numRuns: 60 },
    );
  }, 60_000);
});

/** A reader of single characters and of a few longer closings, with a weight for each token. */
function readerOf(weights: Readonly<Record<string, number>>): TokenReader {
  const closings = ['"', '",', '"]', '"]}'];
  const tokenOf = (text: string) => 1_000 + closings.indexOf(text);
  const textOf = (token: Token) => closings[Number(token) - 1_000] ?? String.fromCharCode(Number(token));
  const tokenize = (text: string) =>
    closings.includes(text) ? [tokenOf(text)] : [...text].map((character) => character.charCodeAt(0));
  return {
    tokenize,
    detokenize: (tokens) => tokens.map(textOf).join(''),
    weigh: async (_path, candidates) => candidates.map((token) => Math.log(weights[textOf(token)] ?? 1e-12)),
    likeliest: async () => [],
    usage: () => ({ calls: 0, read: 0, cached: 0, written: 0 }),
    close: async () => {},
  };
}

describe('a start', () => {
  it('stands before all that is asked', async () => {
    const asked: string[] = [];
    const text = (tokens: readonly Token[]) => String.fromCharCode(...tokens.map(Number));
    const reader = {
      ...readerOf({ a: 1 }),
      weigh: async (path: readonly Token[], candidates: readonly Token[]) => {
        asked.push(text(path));
        return candidates.map(() => 0);
      },
    };
    await rankNames(createNameTrie(['aa', 'ab'], reader), reader, { ...OPTIONS, start: reader.tokenize('x", ') });
    expect(asked).toEqual(['x", a']);
  });
});

describe('the end of a name', () => {
  it('is all tokens that begin with the quote, together', async () => {
    const reader = readerOf({ '"': 0.2, '",': 0.2, '"]': 0.2, b: 0.4 });
    const ranked = await rankNames(createNameTrie(['a', 'ab'], reader), reader, OPTIONS);
    expect(ranked.map(({ name }) => name)).toEqual(['a', 'ab']);
    expect(ranked[0]?.probability).toBeCloseTo(0.6, 5);
  });

  it('leaves out closings that the vocabulary cuts in two', () => {
    const reader = readerOf({});
    const trie = createNameTrie(['a'], reader);
    const [edge] = trie.edges.get(97)?.edges.values() ?? [];
    expect(edge?.tokens).toEqual([1_000, 1_001, 1_002, 1_003]);
  });

  it('is even where the model weighs nothing', async () => {
    const ranked = await rankNames(createNameTrie(['a', 'b'], readerOf({})), readerOf({}), OPTIONS);
    expect(ranked.map(({ probability }) => probability)).toEqual([0.5, 0.5]);
  });
});

describe('a bracket', () => {
  const NULL: Choice = { text: 'null', ends: 'plain' };
  const OPEN: Choice = { text: '[', ends: 'open' };
  const END: Choice = { text: ']', ends: 'close' };
  const FURTHER: Choice = { text: ', ', ends: 'itself' };

  /** A vocabulary whose tokens hold as much of a text as they can. */
  function brackets(weights: Readonly<Record<string, number>>): TokenReader {
    const vocabulary = ['null', '["', '[{"', '[]', '"],', '"]', '",', '}],', '['];
    const next = (text: string) => vocabulary.find((one) => text.startsWith(one)) ?? text.slice(0, 1);
    const tokenize = (text: string): Token[] => {
      const token = next(text);
      return text === '' ? [] : [token, ...tokenize(text.slice(token.length))];
    };
    return {
      ...readerOf({}),
      tokenize,
      weigh: async (_, tokens) => tokens.map((one) => Math.log(weights[one] ?? 1e-9)),
    };
  }

  it.each<[string, Choice, readonly Choice[], Record<string, number>, number]>([
    ['opens a list of texts', OPEN, [OPEN, NULL], { '[': 0.1, '["': 0.5, null: 0.4 }, 0.6],
    ['opens a list of objects', OPEN, [OPEN, NULL], { '[{"': 0.7, null: 0.3 }, 0.7],
    ['closes a list before a further argument', END, [FURTHER, END], { '",': 0.3, '"]': 0.1, '"],': 0.6 }, 0.7],
  ])('%s with what stands in one token beside it', async (_, choice, choices, weights, expected) => {
    const reader = brackets(weights);
    const pending = choices.includes(END) ? '"' : '';
    const texts = choices.map((one) => ({ ...one, text: pending + one.text }));
    const trie = createChoiceTrie(texts, reader);
    expect(await probabilityOf(pending + choice.text, trie, { reader, start: [] })).toBeCloseTo(expected, 5);
  });

  it('ends a number with the object and the list that hold it', async () => {
    const reader = brackets({ 1: 0.5, null: 0.4, '}],': 0.9 });
    const choice: Choice = { text: '1', ends: 'plain' };
    const trie = createChoiceTrie([choice, NULL, { text: '12', ends: 'plain' }], reader);
    expect(await likelihoodOf('1', trie, { reader, start: [] })).toBeCloseTo(0.45, 5);
  });

  it('is not open where the list is empty', async () => {
    const reader = brackets({ '[]': 0.9, '["': 0.05, null: 0.05 });
    const trie = createChoiceTrie([OPEN, NULL], reader);
    expect(await probabilityOf('[', trie, { reader, start: [] })).toBeCloseTo(0.5, 5);
  });
});

describe('a measured name', () => {
  const measure = async (name: string, names: readonly string[], script: Record<string, number>) => {
    const model = createScriptedModel({
      readers: [{ probabilities: answering(script), tokenizeBy: 'character' }],
    });
    const reader = await model.openReader?.({ prompt: { system: '', user: '' }, opening: '["' });
    if (!reader) throw new Error('no reader');
    const at = [createNameTrie(names, reader), { reader, start: [] }] as const;
    const probability = await probabilityOf(name, ...at);
    const { calls } = reader.usage();
    return { probability, calls, likelihood: await likelihoodOf(name, ...at) };
  };

  it('is unlikely where the model would rather write none of the names', async () => {
    const measured = await measure('on', ['on', 'up'], { 'on"': 0.06, 'up"': 0.02, 'sideways"': 0.92 });
    expect(measured.probability).toBeCloseTo(0.75, 4);
    expect(measured.likelihood).toBeCloseTo(0.06, 4);
  });

  it('counts what the model would rather write behind the place where it differs from the others', async () => {
    const measured = await measure('on', ['on', 'up'], { 'on"': 0.01, 'off"': 0.49, 'up"': 0.5 });
    expect(measured.probability).toBeCloseTo(0.5, 4);
    expect(measured.likelihood).toBeCloseTo(0.01, 4);
  });

  it('costs one evaluation among the names where it has one place with an alternative', async () => {
    expect((await measure('on', ['on', 'up'], { 'on"': 0.6, 'up"': 0.4 })).calls).toBe(1);
  });

  it('is impossible where it is not among the names', async () => {
    expect(await measure('off', ['on', 'up'], { 'on"': 1 })).toMatchObject({ probability: 0, likelihood: 0 });
  });
});

describe('how a path goes on is said', () => {
  /** Each query of a reader of single signs: the path, and the tokens ahead with the number of candidates after each. */
  async function queriesOf(names: readonly string[], use: (trie: TrieNode, reader: TokenReader) => Promise<unknown>) {
    const script = Object.fromEntries(names.map((name) => [`${name}"`, 1]));
    const model = createScriptedModel({ readers: [{ probabilities: answering(script), tokenizeBy: 'character' }] });
    const reader = await model.openReader?.({ prompt: { system: '', user: '' }, opening: '["' });
    if (!reader) throw new Error('no reader');
    const queries: string[] = [];
    await use(createNameTrie(names, reader), {
      ...reader,
      weigh(path, candidates, ahead = []) {
        const next = ahead.map(({ token, candidates: after = [] }) => `${token}${after.length || ''}`);
        queries.push([reader.detokenize(path), ...next].join(' '));
        return reader.weigh(path, candidates, ahead);
      },
    });
    return queries;
  }

  it('for a name, to the last place with an alternative', async () => {
    const names = ['tea', 'teapot', 'tuna', 'milk'];
    const queries = await queriesOf(names, (trie, reader) => probabilityOf('tea', trie, { reader, start: [] }));
    expect(queries).toEqual([expect.stringMatching(/^ t2 e a\d+$/), expect.stringMatching(/^t e a\d+$/), 'tea']);
  });

  it('for a likelihood, over some tokens without an alternative', async () => {
    const names = ['tea', 'milk'];
    const queries = await queriesOf(names, (trie, reader) => likelihoodOf('tea', trie, { reader, start: [] }));
    expect(queries).toEqual([' t1 e1', 't e1', 'te']);
  });

  it('for a search, where over half of the names go on', async () => {
    const names = ['get_a', 'get_b', 'get_c', 'put'];
    const [first, second] = await queriesOf(names, (trie, reader) => rankNames(trie, reader, { ...OPTIONS, names: 1 }));
    expect([first, second]).toEqual([' g e t _3', 'get_']);
  });

  it('not for a search among names of which none is half', async () => {
    const names = ['one', 'two', 'six', 'ten'];
    expect(await queriesOf(names, (trie, reader) => rankNames(trie, reader, { ...OPTIONS, names: 1 }))).toEqual([
      '',
      't',
    ]);
  });
});
