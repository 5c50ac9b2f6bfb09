import { describe, expect, it } from 'vitest';
import { WinnowError } from '../../../src/core/errors.js';
import { type Completion, noUsage } from '../../../src/core/model/model.js';
import { completeStructured, type Parsed, readJson } from '../../../src/core/model/structured.js';
import { loadPrompts } from '../../../src/core/prompts/prompts.js';
import { createScriptedModel, type ScriptedAnswer } from '../../support/scripted-model.js';

const { repair } = loadPrompts();
const FAILED = new WinnowError('model_failed', 'broken', {
  details: { usage: { calls: 3, read: 30, cached: 20, written: 10 } },
});

const parse = ({ text }: Completion): Parsed<string> =>
  text === 'yes'
    ? { ok: true, value: text }
    : { ok: false, issues: [`"${text.slice(0, 20)}" is not yes`, 'path.to: second problem'] };

function ask(answers: readonly ScriptedAnswer[]) {
  const model = createScriptedModel({ answers });
  const usage = noUsage();
  const repairs: (readonly string[])[] = [];
  const request = { stage: 'selection', prompt: { system: 'stable', user: 'question' }, maxTokens: 50 } as const;
  const onRepair = (issues: readonly string[]) => void repairs.push(issues);
  const answer = completeStructured({ model, request, parse, repair, usage, onRepair });
  return { model, usage, repairs, answer };
}

describe('a valid object from a model', () => {
  it('takes one call when the answer is right', async () => {
    const { model, usage, repairs, answer } = ask(['yes']);
    expect(await answer).toMatchObject({ ok: true, value: 'yes' });
    expect(usage.calls).toBe(1);
    expect(repairs).toEqual([]);
    model.assertDone();
  });

  it('is asked for once more, with the answer, every problem and the same stable part', async () => {
    const { model, usage, repairs, answer } = ask(['maybe', 'yes']);
    expect(await answer).toMatchObject({ ok: true, value: 'yes' });
    const [first, second] = model.calls;
    expect(second?.prompt.system).toBe(first?.prompt.system);
    expect(second?.prompt.user.startsWith(first?.prompt.user ?? 'none')).toBe(true);
    expect(second?.prompt.user).toContain('maybe\n');
    expect(second?.prompt.user).toContain('- "maybe" is not yes\n- path.to: second problem');
    expect({ ...second, prompt: 0 }).toEqual({ ...first, prompt: 0 });
    expect(repairs).toEqual([['"maybe" is not yes', 'path.to: second problem']]);
    expect(usage.calls).toBe(2);
    model.assertDone();
  });

  it('is given up after one repair, with the last problems', async () => {
    const { model, usage, answer } = ask(['maybe', 'no']);
    expect(await answer).toMatchObject({ ok: false, issues: ['"no" is not yes', 'path.to: second problem'] });
    expect(usage.calls).toBe(2);
    model.assertDone();
  });

  it.each([
    ['first', [FAILED], 3],
    ['repairing', ['maybe', FAILED], 4],
  ] as const)(
    'lets an error of the server through and counts what was spent, at the %s call',
    async (_, answers, calls) => {
      const { usage, answer } = ask(answers);
      await expect(answer).rejects.toBe(FAILED);
      expect(usage.calls).toBe(calls);
      expect(usage.cached).toBe(20);
    },
  );

  it('shortens a run-away answer before it is shown again', async () => {
    const { model, answer } = ask(['x'.repeat(100_000), 'yes']);
    await answer;
    expect(model.calls[1]?.prompt.user).toContain('x'.repeat(1_000));
    expect(model.calls[1]?.prompt.user.length).toBeLessThan(10_000);
  });
});

describe('the JSON in an answer', () => {
  const VALUE = { a: ['}', '"', 1], b: { c: null } };
  const text = JSON.stringify(VALUE);
  it.each([
    ['bare', text],
    ['with space around', `\n ${text} \n`],
    ['fenced', `\`\`\`json\n${JSON.stringify(VALUE, null, 2)}\n\`\`\``],
    ['fenced without a language', `\`\`\`\n${text}\n\`\`\``],
    ['fenced inside prose', `Sure!\n\`\`\`json\n${text}\n\`\`\`\nAnything else?`],
    ['inside prose', `Sure, here it is: ${text}. Anything else {of that}?`],
  ])('is found %s', (_, answer) => {
    expect(readJson(answer)).toEqual({ ok: true, value: VALUE });
  });

  it.each([['{"a": [1, 2'], ["I'm sorry, but I can't."], ['{a: 1}'], ['{"a": 1,}']])('is not mended: %s', (answer) => {
    expect(readJson(answer)).toEqual({ ok: false, issues: ['the answer holds no complete JSON'] });
  });

  it('is missed in an empty answer, in plain words', () => {
    expect(readJson(' \n')).toEqual({ ok: false, issues: ['the answer is empty'] });
  });

  const fits = (value: unknown) => Object.hasOwn(Object(value), 'tool');

  it.each([
    ['behind a draft', '{"tool": "draft"}? No: {"tool": "final"}'],
    ['behind what was asked', 'You said {"x": 1}. {"tool": "final"}'],
    ['before an example of something else', '{"tool": "final"}, as in {"x": 1}'],
    ['in the last fence', '```json\n{"tool": "draft"}\n```\nBetter:\n```json\n{"tool": "final"}\n```'],
    ['bare behind a fence', '```json\n{"tool": "draft"}\n```\nNo: {"tool": "final"}'],
    ['behind much prose', `${'Step uses ${s3.id}, see [1].\n'.repeat(60)}{"tool": "final"}`],
    ['behind thoughts', '<think>{"tool": "draft"}</think>{"tool": "final"}'],
    [
      'behind thoughts whose beginning belongs to the prompt',
      '{"tool": "draft"}</think>\n\n{"tool": "final"} {"x": 1}',
    ],
  ])('is found where it fits: %s', (_, answer) => {
    expect(readJson(answer, fits)).toEqual({ ok: true, value: { tool: 'final' } });
  });

  it('is read whole, whatever its texts quote', () => {
    const value = { tool: 'what does </think> mean' };
    expect(readJson(JSON.stringify(value), fits)).toEqual({ ok: true, value });
  });

  it('is not taken from thoughts without an end', () => {
    expect(readJson('<think>maybe {"tool": "draft"}', fits).ok).toBe(false);
  });

  it('that does not fit is read all the same where there is no other, for its problems', () => {
    expect(readJson('{"tol": 1}', fits)).toEqual({ ok: true, value: { tol: 1 } });
  });

  // A restart at each bracket of these would take half a minute.
  it.each(['[', '[1,', '{', '[{'])('is not found in nonsense: a hundred thousand times %s', (nonsense) => {
    expect(readJson(nonsense.repeat(100_000)).ok).toBe(false);
  });

  it('is found behind prose with brackets', () => {
    expect(readJson(`From [the list] I take: ${text}`)).toEqual({ ok: true, value: VALUE });
  });
});
