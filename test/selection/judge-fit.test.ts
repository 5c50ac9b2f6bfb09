import { describe, expect, it } from '@jest/globals';
import type { OptionsInput } from '../../src/config/options.js';
import { WinnowError } from '../../src/errors.js';
import type { PlanRequest } from '../../src/request.js';
import { createScriptedModel, type ScriptedReader } from '../support/scripted-model.js';
import { makeTool, namesOf, notesOf, plannerOf, TOOLS } from './setup.js';

const FEW = TOOLS.slice(0, 2);
const judging = (yes: number): ScriptedReader => ({ probabilities: new Map(Object.entries({ yes, no: 1 - yes })) });

interface Case {
  yes: number | Error;
  tools?: typeof TOOLS;
  request?: Partial<PlanRequest>;
  options?: OptionsInput;
}

async function select({ yes, tools = FEW, request = {}, options = {} }: Case) {
  const model = createScriptedModel({ readers: () => (yes instanceof Error ? yes : judging(yes)) });
  const planner = plannerOf({ tools, model, options: { passthroughTools: 15, ...options } });
  return { model, selected: await planner.select({ message: 'Who painted the Mona Lisa?', ...request }) };
}

describe('few tools', () => {
  it('are not handed on when the model is sure that they do not fit', async () => {
    const { model, selected } = await select({ yes: 0.1 });
    expect(selected).toMatchObject({ mode: 'none', tools: [] });
    expect(selected.reason).toContain('0.100');
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
    expect(model.readerCalls).toHaveLength(1);
    model.assertDone();
  });

  it.each<[string, Case]>([
    ['the model answers with a list', { yes: 0, options: { answer: 'list' } }],
    ['the option is off', { yes: 0, options: { fitBelow: 0 } }],
    ['the caller requires one of them', { yes: 0, request: { require: ['read_mail'] } }],
    ['one of them is always there', { yes: 0, tools: [...FEW, makeTool('help', { alwaysLoad: true })] }],
    ['they are more than a small model can judge', { yes: 0, tools: TOOLS.slice(0, 5) }],
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
  });
});
