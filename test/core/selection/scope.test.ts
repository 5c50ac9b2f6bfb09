/** Which tools may be selected: the scope of the caller, the rank by a model, and whatever it answers. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { WinnowError } from '../../../src/core/errors.js';
import type { OptionsInput } from '../../../src/core/options.js';
import type { Planner } from '../../../src/core/planner.js';
import type { PlanRequest } from '../../../src/core/request.js';
import { fuse } from '../../../src/core/selection/rank.js';
import { createScriptedModel, type ScriptedAnswer } from '../../support/scripted-model.js';
import { makeTool, namesOf, naming, plannerOf, planOf, TOOLS } from './setup.js';

const SECRET = makeTool('zebra_ride', {
  scope: { user: 'ann' },
  description: 'Rides the hidden zebra.',
  aliases: ['unicorn'],
});
const WITH_SECRET = [...TOOLS, SECRET];
const BOB = { user: 'bob' };

/** All that a caller gets to see of a call, without the times. */
async function seenBy(
  tools: typeof WITH_SECRET,
  answers: readonly ScriptedAnswer[],
  run: (planner: Planner) => Promise<unknown>,
) {
  const model = createScriptedModel({ answers });
  const outcome = await run(plannerOf({ tools, model, options: { fillTokens: 800 } })).catch((error: unknown) => error);
  const text = outcome instanceof WinnowError ? JSON.stringify(outcome) + outcome.message : JSON.stringify(outcome);
  return {
    outcome: text.replace(/"milliseconds":[\d.]+/gu, ''),
    prompts: JSON.stringify(model.calls.map(({ prompt, schema }) => ({ prompt, schema }))),
  };
}

describe('a caller never learns of a private tool of another', () => {
  const PLAYED = [naming('play_song'), planOf('play_song')];
  const GUESSED = [naming('zebra_ride', 'play_song'), planOf('play_song')];

  it.each<[string, PlanRequest, (readonly ScriptedAnswer[])?]>([
    ['by a message that names it', { message: 'zebra_ride unicorn', ...BOB }],
    ['without a user', { message: 'zebra_ride' }],
    ['by requiring it', { message: 'x', require: ['zebra_ride'], ...BOB }],
    ['by allowing it', { message: 'x', allow: ['zebra_ride', 'play_song', 'read_mail'], ...BOB }],
    ['by denying it', { message: 'x', deny: ['zebra_ride'], ...BOB }],
    ['by a model that guesses its name', { message: 'x', ...BOB }, GUESSED],
    ['by a plan with it', { message: 'x', ...BOB }, [naming('play_song'), planOf('zebra_ride'), planOf('zebra_ride')]],
    ['by the fallback', { message: 'zebra_ride', ...BOB }, [new WinnowError('model_failed', 'x'), planOf('play_song')]],
    ['by a user name that looks like another', { message: 'x', user: 'ann ' }],
    ['by a user name of an object', { message: 'x', user: '__proto__' }],
  ])('%s: all is as if it were not there', async (_, request, answers = PLAYED) => {
    const withIt = await seenBy(WITH_SECRET, answers, (planner) => planner.plan(request));
    expect(withIt).toEqual(await seenBy([...TOOLS], answers, (planner) => planner.plan(request)));
    expect(withIt.prompts).not.toContain('hidden zebra');
  });

  it('by listing', () => {
    const planner = plannerOf({ tools: WITH_SECRET, model: createScriptedModel() });
    for (const user of ['bob', undefined]) {
      const view = planner.view({ user });
      expect(view.tools).toEqual(TOOLS);
      expect(view.byName.has('zebra_ride')).toBe(false);
    }
  });

  it('but its owner uses it', async () => {
    const model = createScriptedModel({ answers: [naming('zebra_ride')] });
    const planner = plannerOf({ tools: WITH_SECRET, model });
    expect(namesOf(await planner.select({ message: 'x', user: 'ann' }))).toEqual(['zebra_ride']);
  });

  it('by what its relatives bring along', async () => {
    const friend = makeTool('zebra_friend', { relatedTools: ['zebra_ride'] });
    const rules = [{ name: 'zebras', when: { message: 'zebra' }, first: ['zebra_ride'] }];
    const model = createScriptedModel({ answers: [naming('zebra_friend')] });
    const planner = plannerOf({ tools: [...WITH_SECRET, friend], rules, model });
    expect(namesOf(await planner.select({ message: 'zebra', ...BOB }))).toEqual(['zebra_friend']);
  });
});

describe('a tool of one user with the name of a system tool', () => {
  const own = makeTool('play_song', { scope: { user: 'ann' }, description: 'Plays what Ann likes.' });
  const prompts = async (user: string) => {
    const model = createScriptedModel({ answers: [naming('play_song'), planOf('play_song')] });
    await plannerOf({ tools: [...TOOLS, own], model }).plan({ message: 'music', user });
    return model.calls.map(({ prompt }) => prompt.system).join('\n');
  };

  it('wins for that user, in both stages', async () => {
    const seen = await prompts('ann');
    expect(seen.match(/what Ann likes/gu)).toHaveLength(2);
    expect(seen).not.toContain('loudspeaker');
  });

  it('is not there for others', async () => {
    const seen = await prompts('bob');
    expect(seen.match(/loudspeaker/gu)).toHaveLength(2);
    expect(seen).not.toContain('Ann');
  });
});

describe('lists, origins and availability', () => {
  const tools = [
    ...TOOLS,
    makeTool('far_away', { origin: 'elsewhere' }),
    makeTool('out_of_order', { available: false }),
  ];
  const visible = TOOLS.map(({ name }) => name);

  it.each<[string, Partial<PlanRequest>, string[]]>([
    ['everything', {}, [...visible, 'far_away']],
    ['what is allowed', { allow: ['read_mail', 'far_away', 'nobody', 'out_of_order'] }, ['read_mail', 'far_away']],
    ['nothing that is denied', { deny: [...visible.slice(1)] }, ['read_mail', 'far_away']],
    ['not what is allowed and denied', { allow: ['read_mail', 'far_away'], deny: ['read_mail'] }, ['far_away']],
    ['one origin', { origin: ['elsewhere'] }, ['far_away']],
    ['nothing', { allow: [] }, []],
  ])('leave %s', async (_, request, expected) => {
    const model = createScriptedModel({ answers: () => naming(...expected, 'out_of_order', 'count_sheep') });
    const planner = plannerOf({ tools, model, options: { maxTools: 20 } });
    const selected = await planner.select({ message: 'coffee', require: ['out_of_order'], ...request });
    expect([...namesOf(selected)].sort()).toEqual([...expected].sort());
    expect(namesOf(planner.view(request))).toEqual(expected);
  });

  it('and a filter of the host take tools away', async () => {
    const model = createScriptedModel({ answers: [naming('play_song', 'read_mail')] });
    const planner = plannerOf({ model, filter: (tool, { user }) => user === 'ann' || tool.name !== 'read_mail' });
    expect(namesOf(await planner.select({ message: 'x' }))).toEqual(['play_song']);
    expect(planner.view({ user: 'ann' }).byName.has('read_mail')).toBe(true);
  });
});

describe('selection by rank', () => {
  const reading = (script: Record<string, number>) => ({ probabilities: new Map(Object.entries(script)) });

  function ask(script: Record<string, number>, message = 'hm', options: OptionsInput = {}) {
    const model = createScriptedModel({ readers: [reading(script)] });
    return { model, selected: plannerOf({ model, options }).select({ message }) };
  }
  const namesBy = async (script: Record<string, number>, message?: string) =>
    namesOf(await ask(script, message).selected);

  describe('two opinions', () => {
    const [a, b, c] = [makeTool('a'), makeTool('b'), makeTool('c')];
    type Scores = readonly (readonly [typeof a, number])[];
    const order = (model: Scores, keywords: Scores = []) =>
      fuse(
        new Map(model),
        keywords.map(([tool, score]) => ({ tool, score })),
      ).map(({ tool, probability }) => (probability === undefined ? `${tool.name} by keywords` : tool.name));
    const wavering: Scores = [
      [a, 0.4],
      [b, 0.35],
    ];

    it.each<[string, Scores, Scores, string[]]>([
      ['are that of the model where no word matches', wavering, [], ['a', 'b']],
      ['are decided by keywords where the model wavers', wavering, [[b, 0.5]], ['b', 'a']],
      ['may have a tool that only keywords found first', wavering, [[c, 0.5]], ['c by keywords', 'a', 'b']],
      ['leave a sure model its choice', [[a, 0.95]], [[b, 0.5]], ['a', 'b by keywords']],
      ['count a best match less that covers little of the request', wavering, [[c, 0.05]], ['a', 'b', 'c by keywords']],
      ['may both be missing', [], [], []],
    ])('%s', (_, model, keywords, expected) => {
      expect(order(model, keywords)).toEqual(expected);
    });
  });

  /** Nothing goes with the first. */
  const FIRST_ONLY = { play_song: 0.9, 'play_song", "none': 1 };

  describe('the rank answer', () => {
    it('heeds what keywords find, where the model wavers', async () => {
      const script = { play_song: 0.35, read_mail: 0.34, count_sheep: 0.31 };
      expect((await namesBy(script))[0]).toBe('play_song');
      expect((await namesBy(script, 'read my mail'))[0]).toBe('read_mail');
      expect((await namesBy(script, 'a picture smaller'))[0]).toBe('resize_image');
    });

    it('chooses what stands near enough to the first, and closes its reader', async () => {
      const { model, selected } = ask({ play_song: 0.5, read_mail: 0.3, find_hotel: 0.05 });
      expect((await selected).tools).toMatchObject([
        { name: 'play_song', via: 'model', rank: 1 },
        { name: 'read_mail', via: 'model', rank: 2 },
      ]);
      expect((await selected).mode).toBe('selected');
      model.assertDone();
    });

    it('has the rest as fill', async () => {
      const { selected } = ask({ ...FIRST_ONLY, count_sheep: 0.06, read_mail: 0.04 }, 'hm', { fillTokens: 800 });
      const filled = (await selected).tools.map(({ name, fill = false }) => [name, fill]);
      expect(filled.slice(0, 3)).toEqual([
        ['play_song', false],
        ['count_sheep', true],
        ['read_mail', true],
      ]);
    });

    it('reads once more with the best of both opinions there, for what goes with it', async () => {
      const script = {
        play_song: 0.5,
        read_mail: 0.4,
        'read_mail", "water_garden': 0.1,
        'play_song", "count_sheep': 0.1,
      };
      expect(await namesBy(script, 'read my mail')).toContain('water_garden');
      expect(await namesBy(script)).toContain('count_sheep');
      const { selected } = ask({ play_song: 1 });
      expect(namesOf(await selected)).toEqual(['play_song']);
    });

    it('keeps the first where a complement stands far above it in the end', async () => {
      const first = { play_song: 0.3, read_mail: 0.25, count_sheep: 0.2, brew_coffee: 0.15, find_hotel: 0.1 };
      const names = await namesBy({ ...first, 'play_song", "find_hotel': 0.3 });
      expect(names.slice(0, 2)).toEqual(['play_song', 'find_hotel']);
    });

    it('counts what the reader read, also where it could not be opened', async () => {
      const { usage } = await ask({ play_song: 0.5, read_mail: 0.5 }).selected;
      expect(usage.selection.calls).toBeGreaterThan(0);
      expect(usage.selection.read).toBeGreaterThan(0);
      expect(usage.planning.calls).toBe(0);
      const spent = { calls: 3, read: 30, cached: 0, written: 0 };
      const failure = new WinnowError('model_failed', 'broken', { details: { usage: spent } });
      const failed = await plannerOf({ model: createScriptedModel({ readers: [failure] }) }).select({ message: 'x' });
      expect(failed).toMatchObject({ mode: 'fallback', reason: 'model_failed: broken', usage: { selection: spent } });
    });

    it.each([
      ['likelier than all tools together', { none: 0.8, read_mail: 0.2 }, 'none'],
      ['not', { none: 0.2, read_mail: 0.8 }, 'selected'],
      ['likelier than each tool, and not than all', { none: 0.4, read_mail: 0.3, play_song: 0.3 }, 'selected'],
    ])('abstains only where "none" is likelier than all tools together: %s', async (_, script, mode) => {
      const selected = await ask(script).selected;
      expect(selected.mode).toBe(mode);
      const event = selected.trace.find(({ note }) => note.includes('no tool fits'));
      if (mode === 'none') expect(event?.none).toBeCloseTo(0.8, 2);
      else expect(event).toBeUndefined();
    });

    it('needs a model that gives probabilities, and else falls back', async () => {
      const model = createScriptedModel({});
      const selected = await plannerOf({ model, options: { answer: 'rank' } }).select({ message: 'x' });
      expect(selected).toMatchObject({ mode: 'fallback' });
      expect(selected.reason).toContain('next-token probabilities');
    });
  });

  describe('the confidence of a choice by rank', () => {
    it('is the probability that the chosen names hold together', async () => {
      const script = { read_mail: 0.4, book_flight: 0.35, brew_coffee: 0.1, play_song: 0.1, find_hotel: 0.05 };
      const { confidence } = await ask({ ...script, 'read_mail", "none': 1 }).selected;
      expect(confidence).toBeCloseTo(0.7, 1);
    });
  });
});

describe('any answer', () => {
  const RELATED = TOOLS.map((tool, place) =>
    place % 3 === 0 ? { ...tool, relatedTools: [TOOLS[(place + 1) % TOOLS.length]?.name ?? ''] } : tool,
  );
  const PRIVATE = makeTool('secret_plan', { scope: { user: 'ann' } });
  const ALL = [...RELATED, PRIVATE, makeTool('ask_user', { alwaysLoad: true })];
  const NAMES = ALL.map(({ name }) => name);

  const anyName = fc.oneof(
    fc.constantFrom(...NAMES, 'none'),
    fc.string(),
    fc.constantFrom('__proto__', 'constructor', ''),
  );
  const anyAnswer = fc.oneof(
    fc.array(anyName, { maxLength: 30 }).map((names) => naming(...names)),
    fc.jsonValue().map((value) => JSON.stringify(value)),
    fc.jsonValue().map((value) => JSON.stringify({ selected_tools: value })),
    fc.string(),
  );
  const anyRequest = fc.record({
    deny: fc.subarray(NAMES),
    require: fc.array(
      anyName.filter((name) => name !== ''),
      { maxLength: 4 },
    ),
    maxTools: fc.integer({ min: 1, max: 6 }),
  });

  describe('whatever a list model answers', () => {
    it('selects visible tools, each once, at most maxTools; after the fallback as many as there are', async () => {
      await fc.assert(
        fc.asyncProperty(
          anyAnswer,
          anyAnswer,
          anyRequest,
          fc.constantFrom(0, 800),
          async (first, second, request, fillTokens) => {
            const model = createScriptedModel({ answers: (_request, index) => (index === 0 ? first : second) });
            const planner = plannerOf({ tools: ALL, model, options: { fillTokens } });
            const { deny } = request;
            const { mode, ...selected } = await planner.select({ message: 'coffee, mail and music', ...request });
            const visible = planner.view({ deny }).tools.map(({ name }) => name);
            const names = namesOf(selected);
            expect(new Set(names).size).toBe(names.length);
            expect(visible).toEqual(expect.arrayContaining(names));
            expect(names).not.toContain(PRIVATE.name);
            expect(names.length).toBeLessThanOrEqual(request.maxTools);
            if (mode === 'fallback') expect(names).toHaveLength(Math.min(visible.length, request.maxTools));
          },
        ),
        { numRuns: 40 },
      );
    });
  });
});
