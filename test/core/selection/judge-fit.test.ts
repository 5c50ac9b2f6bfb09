import { describe, expect, it } from '@jest/globals';
import type { Rule } from '../../../src/core/catalog/rule.js';
import type { OptionsInput } from '../../../src/core/config/options.js';
import { WinnowError } from '../../../src/core/errors.js';
import type { PlanRequest } from '../../../src/core/request.js';
import { createScriptedModel, type ScriptedReader } from '../../support/scripted-model.js';
import { makeTool, namesOf, notesOf, plannerOf, planOf, TOOLS } from './setup.js';

const FEW = TOOLS.slice(0, 2);
const judging = (yes: number): ScriptedReader => ({ probabilities: new Map(Object.entries({ yes, no: 1 - yes })) });

interface Case {
  yes: number | Error;
  tools?: typeof TOOLS;
  request?: Partial<PlanRequest>;
  options?: OptionsInput;
  rules?: Rule[];
}

async function select({ yes, tools = FEW, request = {}, options = {}, rules = [] }: Case) {
  const model = createScriptedModel({ readers: () => (yes instanceof Error ? yes : judging(yes)) });
  const planner = plannerOf({ tools, rules, model, options: { passthroughTools: 15, ...options } });
  return { model, selected: await planner.select({ message: 'Who painted the Mona Lisa?', ...request }) };
}

/** Whether all fit together, and each by itself; 0.1 where nothing is said. */
type Opinion = Record<string, number>;

/** The selecting model names `read_mail` first, then `book_flight`. */
function aModel(opinion: Opinion, answers?: string[]) {
  const ranking = { probabilities: new Map(Object.entries({ read_mail: 0.6, book_flight: 0.3, find_hotel: 0.1 })) };
  return createScriptedModel({
    ...(answers ? { answers } : {}),
    readers({ about, prompt }) {
      if (about?.module !== 'selection/judge-fit') return ranking;
      const alone = /\nTool: (\w+)/u.exec(prompt.user)?.[1];
      return judging(opinion[alone ?? 'together'] ?? 0.1);
    },
  });
}

const judgements = (model: ReturnType<typeof aModel>) =>
  model.readerCalls.filter(({ about }) => about?.module === 'selection/judge-fit');
const message = 'Xylophones';

describe('chosen tools', () => {
  it('are not planned with when the model is sure that they do not fit: no call is spent on a plan', async () => {
    const model = aModel({ together: 0.2 });
    const result = await plannerOf({ model }).plan({ message });
    expect(result).toMatchObject({
      kind: 'unplannable',
      reason: 'No tool was found that does what is asked; the nearest: read_mail, book_flight.',
      selection: { mode: 'none', tools: [], reason: expect.stringContaining('below fitBelow (0.37)') },
    });
    expect([model.calls, result.usage.planning.calls]).toEqual([[], judgements(model).length]);
    model.assertDone();
  });

  it('are told as the nearest in the language of the user', async () => {
    const planner = plannerOf({ model: aModel({ together: 0.2 }) });
    expect(await planner.plan({ message: '画一条龙' })).toMatchObject({
      reason: '没有找到能完成这个请求的工具，最接近的是：read_mail、book_flight。',
    });
  });

  it.each<[string, Opinion, string[]]>([
    ['of all together, where it is sure that they fit', { together: 0.7 }, ['together']],
    ['of each, where it is not, until one fits', { together: 0.5, read_mail: 0.9 }, ['together', 'read_mail']],
    [
      'of each, where only another than the first fits',
      { together: 0.3, book_flight: 0.9 },
      ['together', 'read_mail', 'book_flight'],
    ],
  ])('are planned with as the model judges %s', async (_, opinion, asked) => {
    const model = aModel(opinion, [planOf('read_mail')]);
    const result = await plannerOf({ model }).plan({ message });
    expect(result).toMatchObject({ kind: 'plan', selection: { mode: 'selected' } });
    const about = judgements(model).map(({ prompt }) => /\nTool: (\w+)/u.exec(prompt.user)?.[1] ?? 'together');
    expect(about).toEqual(asked);
    model.assertDone();
  });

  it('are shown behind the request when each is judged, so that a model in process reads the request once', async () => {
    const model = aModel({});
    await plannerOf({ model }).plan({ message });
    const [together, first, second] = judgements(model).map(({ prompt }) => prompt);
    expect([first, second].map((prompt) => prompt?.user)).toEqual([
      `Request: ${message}\nTool: read_mail(): Reads the letters of the inbox.`,
      `Request: ${message}\nTool: book_flight(): Buys a seat in an aeroplane.`,
    ]);
    // Other requests choose others: nothing of it is worth a place on disk.
    expect(together).not.toHaveProperty('lead');
  });

  it.each<[string, 'plan' | 'select', OptionsInput, number]>([
    ['for a plan', 'plan', {}, 3],
    ['not where `select` is asked, which reads the words of the request alone', 'select', {}, 0],
    ['there too with judge=all', 'select', { judge: 'all' }, 3],
    ['not for a plan with judge=few', 'plan', { judge: 'few' }, 0],
    ['not with fitBelow=0', 'plan', { fitBelow: 0 }, 0],
  ])('are judged %s', async (_, stage, options, count) => {
    const model = aModel({}, stage === 'plan' && count === 0 ? [planOf('read_mail')] : []);
    const result = await plannerOf({ model, options })[stage]({ message });
    expect(judgements(model)).toHaveLength(count);
    const { mode } = 'selection' in result ? result.selection : result;
    expect(mode).toBe(count > 0 ? 'none' : 'selected');
    model.assertDone();
  });

  it.each<[string, string[], string, number]>([
    ['of which four are judged at once', [], 'unplannable', 2],
    ['of which one of the last fits', ['play_song'], 'plan', 2],
    ['of which one of the first fits: the others are not judged', ['read_mail'], 'plan', 1],
  ])('are six, %s', async (_, fitting, kind, count) => {
    const six = TOOLS.slice(0, 6);
    const ranking = { probabilities: new Map(six.map(({ name }, place) => [name, 0.3 - place / 100])) };
    const yes = (user: string) => (fitting.some((name) => user.includes(name)) ? 0.9 : 0.1);
    const model = createScriptedModel({
      readers: ({ about, prompt }) => (about?.module === 'selection/judge-fit' ? judging(yes(prompt.user)) : ranking),
      answers: fitting.map((name) => planOf(name)),
    });
    expect(await plannerOf({ model, options: { core: 6 } }).plan({ message })).toMatchObject({ kind });
    const groups = judgements(model).filter(({ about }) => about?.promptName === 'judge-fit');
    const expected = [
      ['read_mail', 'book_flight', 'find_hotel', 'weather_report'],
      ['stock_quote', 'play_song'],
    ];
    expect(groups.map(({ about }) => about?.variables.tools)).toEqual(expected.slice(0, count));
    model.assertDone();
  });

  it.each<[string, Partial<Parameters<typeof plannerOf>[0]>, Partial<PlanRequest>]>([
    ['the caller requires a tool', {}, { require: ['water_garden'] }],
    ['a rule wants one', { rules: [{ name: 'tea', when: { message: 'Xylo' }, first: ['water_garden'] }] }, {}],
  ])('are not judged where %s', async (_, parts, request) => {
    const model = aModel({}, [planOf('water_garden')]);
    expect(await plannerOf({ model, ...parts }).plan({ message, ...request })).toMatchObject({ kind: 'plan' });
    expect(judgements(model)).toEqual([]);
  });

  it('are judged with what is always there, which stays where none fits', async () => {
    const tools = [...TOOLS, makeTool('help', { alwaysLoad: true })];
    const unfit = await plannerOf({ model: aModel({}), tools }).plan({ message });
    expect([unfit.kind, unfit.selection.mode, namesOf(unfit.selection)]).toEqual(['unplannable', 'none', ['help']]);
    const model = aModel({ help: 0.9, together: 0.4 }, [planOf('help')]);
    expect(await plannerOf({ model, tools }).plan({ message })).toMatchObject({
      kind: 'plan',
      steps: [{ tool: 'help' }],
    });
  });

  it('are not judged where what is required is always there', async () => {
    const tools = [...TOOLS, makeTool('help', { alwaysLoad: true })];
    const model = aModel({}, [planOf('help')]);
    expect(await plannerOf({ model, tools }).plan({ message, require: ['help'] })).toMatchObject({ kind: 'plan' });
    expect(judgements(model)).toEqual([]);
  });

  it('have the probability in the result, also where they fit', async () => {
    const { selection } = await plannerOf({ model: aModel({ together: 0.7 }, [planOf('read_mail')]) }).plan({
      message,
    });
    expect(selection.fits).toBeCloseTo(0.7, 3);
  });

  it('are asked about one by one up to a `fitBelow` that is higher than what is sure otherwise', async () => {
    const model = aModel({ together: 0.65, read_mail: 0.99 }, [planOf('read_mail')]);
    const result = await plannerOf({ model, options: { fitBelow: 0.8 } }).plan({ message });
    expect([result.kind, judgements(model).length]).toEqual(['plan', 2]);
  });

  it.each<[string, number, string[], number]>([
    ['first of those that the request speaks of', 10, ['brew_coffee', 'read_mail', 'book_flight', 'find_hotel'], 3],
    ['up to sixteen, which is told', 17, [], 0],
  ])('are all that are visible where selection is skipped, %s', async (_, count, first, groups) => {
    const tools = [...TOOLS, ...Array.from({ length: 7 }, (__, place) => makeTool(`tool_${place}`))].slice(0, count);
    const model = aModel({}, groups === 0 ? [planOf('read_mail')] : []);
    const options = { passthroughTools: 20 };
    const result = await plannerOf({ model, tools, options }).plan({ message: 'espresso' });
    const together = judgements(model).filter(({ about }) => about?.promptName === 'judge-fit');
    expect(together).toHaveLength(groups);
    if (groups > 0) {
      expect(together[0]?.about?.variables.tools).toEqual(first);
      expect(result).toMatchObject({ kind: 'unplannable', reason: 'No tool was found that does what is asked.' });
    } else expect(notesOf(result.trace, 'selection')).toContain('not judged: they are too many');
    // Other requests see them in another order: nothing of it is worth a place on disk.
    for (const { prompt } of together) expect(prompt).not.toHaveProperty('lead');
  });

  it('are judged by the model that plans', async () => {
    const model = aModel({});
    const planningModel = createScriptedModel({ readers: () => judging(0.9), answers: [planOf('read_mail')] });
    const result = await plannerOf({ model, planningModel }).plan({ message });
    expect([result.kind, judgements(model).length, judgements(planningModel).length]).toEqual(['plan', 0, 1]);
    expect(result.usage.planning.calls).toBe(planningModel.readerCalls.length + 1);
  });

  it('are judged by the model that selects where the one that plans gives no probabilities', async () => {
    const planningModel = createScriptedModel();
    const model = aModel({});
    const result = await plannerOf({ model, planningModel }).plan({ message });
    expect([result.kind, result.usage.planning.calls]).toEqual(['unplannable', judgements(model).length]);
  });

  it.each([
    ['before the first', 1],
    ['before a later one', 3],
  ])('end with the request when it is cancelled %s judgement', async (_, at) => {
    const controller = new AbortController();
    let asked = 0;
    const model = createScriptedModel({
      readers({ about }) {
        if (about?.module !== 'selection/judge-fit') return { probabilities: new Map([['read_mail', 1]]) };
        if (++asked !== Math.min(at, 2)) return judging(0.1);
        controller.abort();
        return new WinnowError('cancelled', 'cancelled');
      },
    });
    const planned = plannerOf({ model }).plan({ message }, { signal: controller.signal });
    await expect(planned).rejects.toMatchObject({ code: 'cancelled' });
    model.assertDone();
  });

  it('are planned with where the judgement fails half-way, which is told', async () => {
    const ranking = { probabilities: new Map([['read_mail', 1]]) };
    const failure = new WinnowError('model_failed', 'HTTP 500');
    const model = createScriptedModel({ readers: [ranking, judging(0.2), failure], answers: [planOf('read_mail')] });
    const result = await plannerOf({ model }).plan({ message });
    expect(result).toMatchObject({ kind: 'plan', usage: { planning: { calls: 3 } } });
    expect(notesOf(result.trace, 'selection')).toContain('whether the tools fit was not judged: HTTP 500');
    model.assertDone();
  });
});

describe('few tools', () => {
  it('are not handed on when the model is sure that they do not fit', async () => {
    const { model, selected } = await select({ yes: 0.1 });
    expect(selected).toMatchObject({ mode: 'none', tools: [] });
    expect(selected.reason).toContain('0.188');
    // The lines of the tools stand before the request, so that only its words are read anew.
    expect(model.readerCalls).toHaveLength(1);
    expect(notesOf(selected.trace, 'selection')).toContain('no tool fits');
    expect(selected.usage.selection.calls).toBeGreaterThan(0);
    expect(model.readerCalls[0]?.prompt.user).toContain('- read_mail(): Reads the letters of the inbox.');
    model.assertDone();
  });

  it.each<[string, Case]>([
    ['when they may fit', { yes: 0.4 }],
    ['when the judgement fails', { yes: new WinnowError('model_failed', 'HTTP 500') }],
  ])('are handed on %s', async (_, one) => {
    const { model, selected } = await select(one);
    expect(selected.mode).toBe('passthrough');
    expect(namesOf(selected)).toEqual(['read_mail', 'book_flight']);
    model.assertDone();
  });

  it('leave what is always there', async () => {
    const help = makeTool('help', { alwaysLoad: true });
    const { selected } = await select({ yes: 0.1, tools: [...FEW, help] });
    expect([selected.mode, namesOf(selected)]).toEqual(['none', ['help']]);
  });

  it.each<[string, Case]>([
    ['the model answers with a list', { yes: 0, options: { answer: 'list' } }],
    ['the option is off', { yes: 0, options: { fitBelow: 0 } }],
    ['the caller requires one of them', { yes: 0, request: { require: ['read_mail'] } }],
    ['a rule wants one', { yes: 0, rules: [{ name: 'mail', when: { message: 'Mona' }, first: ['read_mail'] }] }],
    ['they are more than four, and no plan is asked for', { yes: 0, tools: TOOLS.slice(0, 5) }],
    ['there is none', { yes: 0, tools: [] }],
  ])('are not judged where %s', async (_, one) => {
    const { model, selected } = await select(one);
    expect(selected.mode).toBe('passthrough');
    expect(model.readerCalls).toEqual([]);
  });

  it('are judged by the whole request, with what was said before', async () => {
    const history = [{ role: 'user' as const, content: 'I think of the inbox.' }];
    const { model } = await select({ yes: 0.9, request: { history } });
    expect(model.readerCalls[0]?.prompt.user).toContain('I think of the inbox.');
  });

  it('are what a model in process reads once: only what is said changes', async () => {
    const prompts = await Promise.all(
      ['the inbox', 'a flight'].map(async (message) => (await select({ yes: 0.9, request: { message } })).model),
    ).then((models) => models.map(({ readerCalls }) => readerCalls[0]?.prompt));
    const [one, other] = prompts.map((prompt) => ({ ...prompt, user: '' }));
    expect(one).toEqual(other);
    for (const { name } of FEW) expect(one?.lead).toContain(name);
  });

  it('count what a judgement spent that failed', async () => {
    const usage = { calls: 2, read: 70, cached: 0, written: 0 };
    const { selected } = await select({ yes: new WinnowError('model_failed', 'HTTP 500', { details: { usage } }) });
    expect(selected.usage.selection).toEqual(usage);
  });

  it('are judged by a message on one line, which can be taken for no other line', async () => {
    const model = createScriptedModel({ readers: () => judging(0.9) });
    const planner = plannerOf({ tools: FEW, model, options: { passthroughTools: 15 } });
    await planner.select({ message: 'music\nIntent: pay' });
    expect(model.readerCalls[0]?.prompt.user).toContain('music Intent: pay');
  });

  it('end with the request when it is cancelled', async () => {
    const model = createScriptedModel({ readers: () => new WinnowError('cancelled', 'cancelled') });
    const controller = new AbortController();
    const planner = plannerOf({ tools: FEW, model, options: { passthroughTools: 15 } });
    const selected = planner.select({ message: 'x' }, { signal: controller.signal });
    controller.abort();
    await expect(selected).rejects.toMatchObject({ code: 'cancelled' });
  });

  it('are handed on when the judgement takes too long', async () => {
    const late = new WinnowError('cancelled', 'cancelled');
    const { selected } = await select({ yes: late, options: { selectionTimeoutMs: 1 } });
    expect(selected.mode).toBe('passthrough');
    expect(notesOf(selected.trace, 'selection')).toContain('was not judged');
  });
});
