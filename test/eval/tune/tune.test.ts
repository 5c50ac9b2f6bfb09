import { readFileSync } from 'node:fs';
import { applyPatch } from 'diff';
import { beforeAll, describe, expect, it } from 'vitest';
import { loadConfigFile } from '../../../src/cli/config-file.js';
import { WinnowError } from '../../../src/core/errors.js';
import { resolveOptions } from '../../../src/core/options.js';
import { defaultPromptPath, loadNamedPrompt, readPrompt } from '../../../src/core/prompts/prompts.js';
import { type TuneOptions, tune } from '../../../src/eval/tune/tune.js';
import type { TuneReport } from '../../../src/eval/tune/tune-report.js';
import { createScriptedModel } from '../../support/scripted-model.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { aModel, inFolder, isProposal, RULE, RULED, someCases, tuneOptions, withRule } from './setup.js';

/** A whole run in which the wording is what helps. */
let ruled: TuneOptions;
let whole: TuneReport;
beforeAll(async () => {
  ruled = tuneOptions(aModel(RULED));
  whole = await tune(ruled);
});

describe('tuning the selection prompt', () => {
  it('finds the worked example that repairs others, and puts it before the tools', async () => {
    const model = aModel({ helps: (system) => system.includes('Answer: {"selected_tools": ["read_flow"]}') });
    const options = tuneOptions(model);
    const report = await tune(options);
    expect(report.prompts[0]).toMatchObject({ prompt: 'select-tools', isChanged: true, heldBack: { lower: 0 } });
    expect(report.prompts[0]?.heldBack?.mean).toBeGreaterThan(0.3);
    const [id = ''] = report.prompts[0]?.examples ?? [];
    expect(report.split.training).toContain(id);
    const loaded = loadNamedPrompt('select-tools', inFolder(options, 'select-tools.md'));
    const { system } = loaded.render({ none: 'none', summaries: 'THE TOOLS', context: '', message: 'm' });
    expect(system).toMatch(
      /Worked examples:\n\nRequest: .* run\nAnswer: \{"selected_tools": \["read_flow"\]\}[\s\S]*THE TOOLS$/u,
    );
    expect(system).not.toContain('<!--');
  });

  it('finds the wording that a model proposes, and tells what else was tried', () => {
    const { prompts } = whole;
    expect(prompts[0]).toMatchObject({ isChanged: true, examples: [] });
    const tried = prompts[0]?.tried ?? [];
    expect(tried.filter(({ verdict }) => verdict === 'kept').map(({ about }) => about)).toEqual([
      'wording 1: flow is missed',
    ]);
    expect(tried.filter(({ kind }) => kind === 'examples').length).toBeGreaterThan(0);
  });

  it('writes a diff that makes the new file from the old one, and a configuration that uses it', async () => {
    const before = readPrompt(defaultPromptPath('select-tools'));
    const after = readFileSync(inFolder(ruled, 'select-tools.md'), 'utf8');
    expect(after).toContain(RULE);
    expect(applyPatch(before, readFileSync(inFolder(ruled, 'select-tools.diff'), 'utf8'))).toBe(after);
    const config = await loadConfigFile(inFolder(ruled, 'tuned.json'));
    expect(config.prompts).toEqual({ 'select-tools': inFolder(ruled, 'select-tools.md') });
  });

  it('finds that shorter summaries are better, and says which option makes them so', async () => {
    const long = { description: `Reads it. ${'And more words that only confuse. '.repeat(40)}` };
    const model = aModel({ helps: (system) => !system.includes('only confuse') });
    const options = tuneOptions(model);
    const [suite] = options.suites;
    if (!suite) throw new Error('no suite');
    const tools = suite.catalog.tools.map((tool) => ({ ...tool, ...long }));
    const { prompts } = await tune({ ...options, suites: [{ ...suite, catalog: { ...suite.catalog, tools } }] });
    expect(prompts[0]).toMatchObject({ isChanged: true, options: { summaryTokens: 200 } });
    expect(JSON.parse(readFileSync(inFolder(options, 'tuned.json'), 'utf8')).options).toEqual({ summaryTokens: 200 });
  });
});

describe('no case that is kept back', () => {
  it('stays in the training part where the prompt holds it already', async () => {
    const cases = someCases(46).map((one) =>
      one.id === 'c9' ? { ...one, request: { message: 'You choose tools for a request' } } : one,
    );
    const { split, notices } = await tune(tuneOptions(aModel({ helps: () => false }), { cases, rounds: 1, tries: 1 }));
    expect(split.training).toContain('c9');
    expect(notices.join()).toContain('c9');
  });
});

describe('the budget', () => {
  it('is looked at between cases; what ends early keeps nothing, and says how to go on', async () => {
    let time = 0;
    const now = () => time++;
    const model = aModel(RULED);
    const { prompts } = await tune(tuneOptions(model, { budget: 12, now }));
    expect(prompts[0]).toMatchObject({ isChanged: false });
    expect(prompts[0]?.reason).toMatch(/The budget ended before .* Run it again with a larger --budget/u);
    expect(model.calls.length).toBeLessThan(40);
  });
});

describe('a run that was stopped', () => {
  it('comes to the same when it begins again, and asks nothing twice', async () => {
    const cache = { folder: temporaryFolder() };
    const stop = new AbortController();
    const model = aModel({
      ...RULED,
      helps: (system) => {
        if (model.calls.length >= 40) stop.abort();
        return RULED.helps(system);
      },
    });
    const options = tuneOptions(model, { cache, stop: stop.signal });
    await expect(tune(options)).rejects.toMatchObject({ code: 'cancelled' });
    const again = await tune({ ...options, stop: new AbortController().signal });
    expect({ ...again, milliseconds: 0 }).toEqual({ ...whole, milliseconds: 0 });
    const asked = model.calls.map(({ prompt }) => `${prompt.system}\n${prompt.user}`);
    expect(new Set(asked).size).toBe(asked.length);
  });
});

describe('a run is refused', () => {
  it('where the server is down, with what it said', async () => {
    const model = createScriptedModel({ answers: () => new WinnowError('model_failed', 'HTTP 500') });
    await expect(tune(tuneOptions(model))).rejects.toThrow(
      '8 cases in a row failed, the last with model_failed: HTTP 500 Run it again: answers so far are kept',
    );
  });

  it('by nobody where single cases fail; they are left out, and named', async () => {
    const model = createScriptedModel({
      answers: (request, index) => {
        if (index === 2) return new WinnowError('model_failed', 'HTTP 500');
        const flow = request.prompt.user.endsWith('run') && request.prompt.system.includes(RULE);
        return isProposal(request)
          ? withRule()
          : JSON.stringify({ selected_tools: [flow ? 'read_flow' : 'read_level'] });
      },
    });
    const { prompts, notices } = await tune(tuneOptions(model));
    expect(prompts[0]).toMatchObject({ isChanged: true });
    expect(notices.join()).toMatch(/the case c\d+ was left out once, with model_failed/u);
  });

  it('where selection is skipped, with what to set', async () => {
    const options = tuneOptions(aModel({ helps: () => false }), { options: resolveOptions() });
    await expect(tune(options)).rejects.toThrow('--set passthroughTools=0');
  });
});
