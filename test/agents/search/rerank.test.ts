import { describe, expect, it } from 'vitest';
import { createRerank, parseRerankSettings } from '../../../src/agents/search/rerank.js';
import { WinnowError } from '../../../src/core/errors.js';
import type { Usage } from '../../../src/core/model/model.js';
import { loadNamedPrompt } from '../../../src/core/prompts/prompts.js';
import { createScriptedModel, type ScriptedAnswer } from '../../support/scripted-model.js';
import { matchNames, setUp } from './setup.js';

const [prompt, repair] = [loadNamedPrompt('rerank-tools'), loadNamedPrompt('repair')];
const DEFAULTS = parseRerankSettings({});
const opinion = (more: Record<string, unknown> = {}) =>
  JSON.stringify({
    intent: 'push a branch',
    top_k_tools: ['git_push', 'git_branch_list'],
    confidence: 0.9,
    need_clarification: false,
    ...more,
  });

async function searchWith(answers: readonly ScriptedAnswer[], more: { minConfidence?: number; query?: string } = {}) {
  const model = createScriptedModel({ answers });
  const usages: Usage[] = [];
  const { query = 'branch', ...options } = more;
  const { search } = await setUp({
    rerank: { model, prompt, repair, onUsage: (usage) => usages.push(usage), ...options },
  });
  const output = await search({ query, top_k: 3 });
  model.assertDone();
  return { output, model, usages };
}

describe('a second opinion', () => {
  it('orders what was found, and the rest stays behind in its order', async () => {
    const { output, model } = await searchWith([opinion()]);
    expect(output).toMatchObject({ ranked_by: 'model', intent: 'push a branch', confidence: 0.9 });
    expect(output.degraded).toBeUndefined();
    expect(matchNames(output).slice(0, 2)).toEqual(['git_push', 'git_branch_list']);
    expect(output.matches).toHaveLength(3);
    expect(model.calls[0]?.prompt.user).toContain('- git_push [git]: Send the commits of a branch to the remote.');
    expect(model.calls[0]?.about).toMatchObject({ module: 'agents/rerank', promptName: 'rerank-tools' });
  });

  // A small model copies the form it is shown: "what is to be done, in a few words" was its answer to everything.
  it('is shown whole answers, a sure one and an unsure one, and no form with gaps', () => {
    const { system } = prompt.render({ tools: '', query: '' });
    const shown = system.split('\n').filter((line) => line.startsWith('{'));
    const answers = shown.map((line) => JSON.parse(line));
    const fields = ['intent', 'top_k_tools', 'confidence', 'need_clarification'];
    expect(answers.map(Object.keys)).toEqual([fields, fields]);
    expect(answers.map(({ confidence }) => confidence >= DEFAULTS.minConfidence)).toEqual([true, false]);
  });

  it('sees only what the caller may find', async () => {
    const { model } = await searchWith([opinion()]);
    const seen = JSON.stringify(model.calls[0]);
    expect(seen).toContain('git_branch_show');
    expect(seen).not.toMatch(/branch_secret|old_branch/u);
  });

  it('is told apart from the rules and can bring no name of its own', async () => {
    const { output } = await searchWith([opinion({ top_k_tools: ['branch_secret', 'git_push', 'git_push', 'rm_rf'] })]);
    expect(matchNames(output)[0]).toBe('git_push');
    expect(matchNames(output)).not.toContain('branch_secret');
    expect(new Set(matchNames(output)).size).toBe(output.matches.length);
  });

  it('may ask back although it is sure', async () => {
    const { output } = await searchWith([opinion({ need_clarification: true })]);
    expect(output.need_clarification?.question).toMatch(/git/u);
  });

  it('is repaired once', async () => {
    const { output, usages } = await searchWith(['sorry?', opinion()]);
    expect(output.ranked_by).toBe('model');
    expect(usages).toMatchObject([{ calls: 2 }]);
  });

  it.each<[string, ScriptedAnswer[], RegExp]>([
    ['is not sure', [opinion({ confidence: 0.64 })], /0\.64 is below 0\.65/u],
    ['is not usable, also after the repair', ['{}', '{"confidence": 2}'], /not usable/u],
    ['names nothing that was found', [opinion({ top_k_tools: ['rm_rf'] })], /none of the tools/u],
    [
      'fails',
      [new WinnowError('model_unavailable', 'No model is there.')],
      /^model_unavailable: No model can be loaded or reached\.$/u,
    ],
  ])("leaves the rules' order when it %s, and the answer says so", async (_, answers, reason) => {
    const plain = await (await setUp()).search({ query: 'branch', top_k: 3 });
    const { output } = await searchWith(answers);
    expect(output.ranked_by).toBe('rules');
    expect(output.degraded).toMatch(reason);
    expect(output.matches).toEqual(plain.matches);
  });

  it('tells the operator what the agent must not learn of the model server', async () => {
    const refused = new WinnowError('model_refused', 'The server at http://10.1.2.3:8080 says: bad key sk-1.');
    const failures: WinnowError[] = [];
    const rerank = createRerank(createScriptedModel({ answers: () => refused }), {
      settings: parseRerankSettings({ enabled: true }),
      onFailure: (error) => failures.push(error),
    });
    const output = await (await setUp({ rerank })).search({ query: 'branch' });
    expect(output).toMatchObject({ ranked_by: 'rules', degraded: expect.stringMatching(/^model_refused/u) });
    expect(JSON.stringify(output)).not.toMatch(/10\.1\.2\.3|sk-1/u);
    expect(failures).toEqual([refused]);
  });

  it('is none where none is switched on', () => {
    expect(createRerank(createScriptedModel(), { settings: DEFAULTS })).toBeUndefined();
  });

  it('is used from the confidence that is set, and at just that', async () => {
    expect((await searchWith([opinion({ confidence: 0.65 })])).output.ranked_by).toBe('model');
    expect((await searchWith([opinion({ confidence: 0.3 })], { minConfidence: 0.3 })).output.ranked_by).toBe('model');
  });

  it('is not asked where there is nothing to order', async () => {
    expect((await searchWith([], { query: 'xylophone' })).output.ranked_by).toBe('rules');
  });

  it('that comes too late is not waited for, though the model does not heed the signal', async () => {
    const deaf = { ...createScriptedModel(), complete: () => new Promise<never>(() => {}) };
    const { search } = await setUp({ rerank: { model: deaf, prompt, repair, timeoutMs: 5 } });
    const output = await search({ query: 'branch' });
    expect(output).toMatchObject({ ranked_by: 'rules', degraded: 'the model did not answer within 5 ms' });
    expect(output.matches.length).toBeGreaterThan(1);
  });

  it('ends with the search when the caller gives up', async () => {
    const model = createScriptedModel({ answers: () => opinion() });
    const { search } = await setUp({ rerank: { model, prompt, repair } });
    const signal = AbortSignal.abort();
    await expect(search({ query: 'branch' }, { signal })).rejects.toMatchObject({ code: 'cancelled' });
  });

  it('ends so, too, while a model thinks that does not heed the signal', async () => {
    const caller = new AbortController();
    const deaf = {
      ...createScriptedModel(),
      complete() {
        caller.abort();
        return new Promise<never>(() => {});
      },
    };
    const { search } = await setUp({ rerank: { model: deaf, prompt, repair } });
    await expect(search({ query: 'branch' }, { signal: caller.signal })).rejects.toMatchObject({ code: 'cancelled' });
  });
});
