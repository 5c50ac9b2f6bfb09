/** Who sees what, through the whole path: attacks first. */
import { describe, expect, it } from '@jest/globals';
import { WinnowError } from '../../../src/core/errors.js';
import type { Planner } from '../../../src/core/planner.js';
import type { PlanRequest } from '../../../src/core/request.js';
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
  const asks: [string, PlanRequest, readonly ScriptedAnswer[]][] = [
    [
      'by a message that names it',
      { message: 'zebra_ride unicorn', ...BOB },
      [naming('play_song'), planOf('play_song')],
    ],
    ['without a user', { message: 'zebra_ride' }, [naming('play_song'), planOf('play_song')]],
    ['by requiring it', { message: 'x', require: ['zebra_ride'], ...BOB }, [naming('play_song'), planOf('play_song')]],
    [
      'by allowing it',
      { message: 'x', allow: ['zebra_ride', 'play_song', 'read_mail'], ...BOB },
      [naming('play_song'), planOf('play_song')],
    ],
    ['by denying it', { message: 'x', deny: ['zebra_ride'], ...BOB }, [naming('play_song'), planOf('play_song')]],
    [
      'by a model that guesses its name',
      { message: 'x', ...BOB },
      [naming('zebra_ride', 'play_song'), planOf('play_song')],
    ],
    ['by a near miss of its name', { message: 'x', ...BOB }, [naming('zebra_ridr', 'play_song'), planOf('play_song')]],
    ['by a plan with it', { message: 'x', ...BOB }, [naming('play_song'), planOf('zebra_ride'), planOf('zebra_ride')]],
    ['by the fallback', { message: 'zebra_ride', ...BOB }, [new WinnowError('model_failed', 'x'), planOf('play_song')]],
    [
      'by a user name that looks like another',
      { message: 'x', user: 'ann ' },
      [naming('play_song'), planOf('play_song')],
    ],
    ['by a user name of an object', { message: 'x', user: '__proto__' }, [naming('play_song'), planOf('play_song')]],
  ];

  it.each(asks)('%s: all is as if it were not there', async (_, request, answers) => {
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

  it('say what is required and not there', async () => {
    const model = createScriptedModel({ answers: [naming('play_song')] });
    const { dropped } = await plannerOf({ model }).select({ message: 'x', require: ['xyzzy'] });
    expect(namesOf({ tools: dropped })).toEqual(['xyzzy']);
  });
});
