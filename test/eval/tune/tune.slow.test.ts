/** Runs of the tuning that take many calls, and the rates of its decision over many seeds. */
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createRandom } from '../../../src/eval/random.js';
import type { Pair } from '../../../src/eval/statistics.js';
import { tokensOf } from '../../../src/eval/tune/prompt-gate.js';
import { decide } from '../../../src/eval/tune/search.js';
import { tune } from '../../../src/eval/tune/tune.js';
import { FALSE_DISCOVERY } from '../../../src/eval/tune/tune-report.js';
import { createScriptedModel } from '../../support/scripted-model.js';
import { aModel, inFolder, isProposal, PLACES, RULE, someCases, tuneOptions, withRule } from './setup.js';

describe('tuning the selection prompt', () => {
  it('keeps nothing with a model that answers by chance, and never looks at the held-back part then', async () => {
    const random = createRandom(7);
    const model = createScriptedModel({
      answers: (request) =>
        isProposal(request)
          ? withRule()
          : JSON.stringify({ selected_tools: [random() < 0.5 ? 'read_level' : 'read_flow'] }),
    });
    const options = tuneOptions(model);
    const { prompts, split } = await tune(options);
    expect(prompts[0]).toMatchObject({ isChanged: false });
    expect(prompts[0]).not.toHaveProperty('heldBack');
    expect(existsSync(inFolder(options, 'select-tools.md'))).toBe(false);
    const heldBack = new Set(
      options.cases.filter(({ id }) => split.heldBack.includes(id)).map(({ request }) => request.message),
    );
    expect(model.calls.filter(({ prompt }) => [...heldBack].some((message) => prompt.user.endsWith(message)))).toEqual(
      [],
    );
  });

  it('refuses a gain that the held-back part does not show', async () => {
    const first = await tune(tuneOptions(aModel({ helps: () => false }), { rounds: 1, tries: 1 }));
    const heldBack = someCases(46)
      .filter(({ id }) => first.split.heldBack.includes(id))
      .map(({ request }) => request.message);
    const isHeldBack = (user: string) => heldBack.some((message) => user.endsWith(message));
    const model = createScriptedModel({
      answers: (request) => {
        if (isProposal(request)) return withRule();
        const { system, user } = request.prompt;
        const helps = system.includes(RULE) && !isHeldBack(user) && user.endsWith('run');
        return JSON.stringify({ selected_tools: [helps ? 'read_flow' : 'read_level'] });
      },
    });
    const options = tuneOptions(model);
    const { prompts } = await tune(options);
    expect(prompts[0]).toMatchObject({ isChanged: false, heldBack: { mean: 0 } });
    expect(prompts[0]?.reason).toContain('held-back part does not show');
    expect(existsSync(inFolder(options, 'tuned.json'))).toBe(false);
  });
});

describe('no case that is kept back', () => {
  it('reaches a prompt, also where the proposing model writes it down', async () => {
    const messages = someCases(46).map(({ request }) => request.message);
    let turn = 0;
    const model = aModel({
      helps: (system) => system.includes('read_flow"]}'),
      proposal: () => {
        turn += 1;
        return JSON.stringify({ diagnosis: 'copied', instructions: `Such as ${messages[turn % 46]}. ${PLACES}` });
      },
    });
    const { split, prompts } = await tune(tuneOptions(model, { rounds: 3, tries: 5 }));
    const withheld = new Set([...split.choosing, ...split.heldBack]);
    const texts = someCases(46)
      .filter(({ id }) => withheld.has(id))
      .map(({ request }) => ` ${tokensOf(request.message).join(' ')} `);
    // What the proposing model is asked counts whole, also when it is asked once more.
    const systems = new Set(model.calls.map((call) => (isProposal(call) ? call.prompt.user : call.prompt.system)));
    expect([...systems].filter((system) => system.includes('Your last answer was'))).not.toEqual([]);
    const leaks = [...systems].filter((system) =>
      texts.some((text) => ` ${tokensOf(system).join(' ')} `.includes(text)),
    );
    expect(leaks).toEqual([]);
    const wordings = (prompts[0]?.tried ?? []).filter(({ kind }) => kind === 'wording');
    expect(wordings.length).toBeGreaterThan(0);
    expect(wordings.map(({ verdict }) => verdict)).toEqual(wordings.map(() => 'refused'));
  });
});

describe('tuning the planning prompt', () => {
  it('puts a plan of a training case before the tools', async () => {
    const model = aModel({ helps: (system) => /"tool":"read_flow"/u.test(system) });
    const options = tuneOptions(model, { prompts: ['plan-steps'] });
    const { prompts } = await tune(options);
    expect(prompts[0]).toMatchObject({ prompt: 'plan-steps', isChanged: true });
    const file = readFileSync(inFolder(options, 'plan-steps.md'), 'utf8');
    expect(file).toMatch(
      /With read_flow \(name\)\. Request: .* run\nAnswer: \{"kind":"plan","steps":\[\{"id":"s1","tool":"read_flow"/u,
    );
    expect(file.indexOf('Worked examples:')).toBeLessThan(file.indexOf('{{tools}}'));
  });
});

/** Scores by chance, before and after alike. */
function byChance(random: () => number, count: number): Pair[] {
  const score = () => Number(random() < 0.7);
  return Array.from({ length: count }, (): Pair => [score(), score()]);
}

describe('the decision, over 200 seeds of four looks each at variants that are no better', () => {
  it('keeps one in fewer than 5 % of the runs, and the interval alone would in more', () => {
    const runs = Array.from({ length: 200 }, (_, seed) => {
      const random = createRandom(seed * 7_919 + 1);
      let level = FALSE_DISCOVERY / 2;
      let kept = 0;
      let clearByInterval = 0;
      for (let look = 0; look < 4; look++) {
        const { isKept, gain } = decide(byChance(random, 20), { level, seed });
        kept += Number(isKept);
        clearByInterval += Number((gain?.low ?? 0) > 0);
        if (!isKept) level /= 2;
      }
      return { kept, clearByInterval };
    });
    const rateOf = (some: typeof runs) => some.length / runs.length;
    expect(rateOf(runs.filter(({ kept }) => kept > 0))).toBeLessThan(FALSE_DISCOVERY);
    expect(rateOf(runs.filter(({ clearByInterval }) => clearByInterval > 0))).toBeGreaterThan(FALSE_DISCOVERY);
  });
});
