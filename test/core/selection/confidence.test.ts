import { describe, expect, it } from '@jest/globals';
import { createScriptedModel, type ScriptedAnswer } from '../../support/scripted-model.js';
import { makeTool, notesOf, plannerOf, planOf, TOOLS } from './setup.js';

const reader = (probabilities: Record<string, number>) => ({ probabilities: new Map(Object.entries(probabilities)) });
const UNSURE = { read_mail: 0.3, book_flight: 0.25, find_hotel: 0.2, brew_coffee: 0.15, play_song: 0.1 };

function rankPlanner(answers: readonly ScriptedAnswer[], options: Record<string, unknown>) {
  const model = createScriptedModel({ readers: [reader(UNSURE)], answers });
  return { model, planner: plannerOf({ model, options: { core: 2, keywordWeight: 0, ...options } }) };
}

describe('the confidence of a choice by rank', () => {
  it('is the probability that the chosen names hold together', async () => {
    const { planner } = rankPlanner([], {});
    const { confidence } = await planner.select({ message: 'my mail' });
    expect(confidence).toBeCloseTo(0.55, 1);
  });

  it('is higher where keywords say the same, and not where they say something else', async () => {
    const confidenceOf = async (message: string) =>
      (await rankPlanner([], { keywordWeight: 1, core: 1 }).planner.select({ message })).confidence;
    expect(await confidenceOf('hm')).toBeCloseTo(0.3, 1);
    expect(await confidenceOf('read my mail')).toBeGreaterThan(0.8);
    expect(await confidenceOf('read mail or play a song or a hotel')).toBeLessThan(0.6);
  });

  it.each([
    ['my mail', 'Which of these do you mean: read_mail, book_flight?'],
    ['我的邮件', '您指的是哪一项：read_mail、book_flight？'],
  ])('makes a question of "%s" when it is below the threshold', async (message, question) => {
    const { model, planner } = rankPlanner([], { clarifyBelow: 0.65 });
    const result = await planner.plan({ message });
    expect(result).toMatchObject({ kind: 'clarification', question, missing: [] });
    expect(notesOf(result.trace, 'selection')).toContain('is below 0.65: asked back');
    model.assertDone();
  });

  it.each([
    ['above the threshold', { clarifyBelow: 0.3 }],
    ['without a threshold', {}],
  ])('asks nothing %s', async (_, options) => {
    const { planner } = rankPlanner([planOf('read_mail')], options);
    expect(await planner.plan({ message: 'my mail' })).toMatchObject({ kind: 'plan' });
  });

  it('names tools by their titles', async () => {
    const tools = [makeTool('a1', { title: 'Mail\nbox' }), ...TOOLS.slice(1)];
    const model = createScriptedModel({ readers: [reader({ a1: 0.5, find_hotel: 0.5 })] });
    const planner = plannerOf({ model, tools, options: { core: 1, clarifyBelow: 0.9 } });
    expect(await planner.plan({ message: 'x' })).toMatchObject({ question: 'Which of these do you mean: Mail box?' });
  });
});

describe('the reason for a choice by rank', () => {
  it('is written when it is asked for, behind the prompt of the choice', async () => {
    const { model, planner } = rankPlanner(['They read\nletters.'], { reasons: true });
    const { reason, usage } = await planner.select({ message: 'my mail' });
    expect(reason).toBe('They read letters.');
    expect(usage.selection.calls).toBe(2);
    expect(model.calls[0]?.prompt.system).toBe(model.readerCalls[0]?.prompt.system);
    expect(model.calls[0]?.prompt.user).toContain('These tools were chosen: read_mail, book_flight.');
  });

  it('is missing when the model fails, and the choice stands', async () => {
    const { planner } = rankPlanner([new Error('no room')], { reasons: true });
    const { mode, reason, trace } = await planner.select({ message: 'my mail' });
    expect([mode, reason]).toEqual(['selected', '']);
    expect(notesOf(trace, 'selection')).toContain('no reason was written');
  });

  it('costs nothing when it is not asked for', async () => {
    const { model, planner } = rankPlanner([], {});
    await planner.select({ message: 'my mail' });
    model.assertDone();
  });
});
