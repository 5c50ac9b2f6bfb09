/** The page that `winnow eval` itself writes, in a real browser: what it shows is what the run counted. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { CaseRecord } from '../../src/eval/record.js';
import { type ReportBrowser, startReportBrowser } from '../eval/report/open-report.js';
import { shownIds } from '../eval/report/shown-cases.js';
import { CHROMIUM } from '../support/browser.js';
import type { Behaviour } from '../support/scripted-server.js';
import { answerJson, fail, refusal } from '../support/server-behaviours.js';
import { cases, type EvalSetup, setUpEval, tools } from './eval-setup.js';
import { runEval } from './run-eval.js';

// A browser on a busy machine takes its time; no test is about it.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const inBrowser = CHROMIUM ? describe : describe.skip;
const skipped = CHROMIUM ? '' : ' (skipped: chromium is not installed)';

const ALL = cases.flatMap(({ expectedTools }) => expectedTools);
/** Two tools are handed on as they are: of c6 and c7, which see one, selection is skipped. Nothing fits c7. */
const CASES = cases.map((one, place) => ({
  ...one,
  candidates: place < 6 ? ALL : ['tool_6'],
  ...(place === 7 ? { expectedTools: [], expectedSteps: [] } : {}),
}));
const SETTINGS = ['--distractors', '0', '--set', 'passthroughTools=2,fillTokens=0', '--no-cache'];

const plan = (tool: string, x: string) => answerJson({ kind: 'plan', steps: [{ id: 's1', tool, arguments: { x } }] });
/** What goes wrong, request by request of a case; all others are answered rightly. */
const FULL: Record<number, (Behaviour | undefined)[]> = {
  1: [undefined, plan('tool_1', 'another value')],
  2: [fail(401, 'no key')],
  3: [refusal(), refusal()],
  7: [answerJson({ kind: 'unplannable', reason: 'No tool does it.' })],
};
const SELECTION: typeof FULL = { ...FULL, 1: [answerJson({ selected_tools: ['tool_5'], reason: 'r' })] };

inBrowser(`the page that eval writes${skipped}`, () => {
  let browser: ReportBrowser;
  let setup: EvalSetup;
  beforeAll(async () => {
    browser = await startReportBrowser();
  });
  afterAll(() => browser.close());
  beforeEach(async () => {
    setup = await setUpEval();
    process.env.WINNOW_CACHE = join(setup.folder, 'cache');
    // Small tools would be handed on without a choice.
    const large = tools.map((tool) => ({ ...tool, description: `${tool.description} ${'It says much. '.repeat(80)}` }));
    writeFileSync(join(setup.folder, 'set.tools.json'), JSON.stringify(large));
    writeFileSync(join(setup.folder, 'set.cases.jsonl'), CASES.map((one) => `${JSON.stringify(one)}\n`).join(''));
  });
  afterEach(async () => {
    delete process.env.WINNOW_CACHE;
    await setup.close();
  });

  const evaluate = async (instead: typeof FULL, more: readonly string[] = []) => {
    const asked = new Map<number, number>();
    setup.instead = (place) => {
      const before = asked.get(place) ?? 0;
      asked.set(place, before + 1);
      return instead[place]?.[before];
    };
    const { exitCode, error } = await runEval(setup.words([...SETTINGS, ...more]));
    expect([exitCode, error]).toEqual([0, undefined]);
    const opened = await browser.open(join(setup.out, 'report.html'));
    return opened;
  };
  const modes = () =>
    readFileSync(join(setup.out, 'cases.jsonl'), 'utf8')
      .trim()
      .split('\n')
      .map((line): CaseRecord => JSON.parse(line))
      .sort((one, other) => one.id.localeCompare(other.id))
      .map(({ selection }) => selection?.mode);
  const headline = (page: Page) => page.locator('h2').first().textContent();
  const verdicts = (page: Page) => page.locator('[data-verdict]').allTextContents();

  it('has the outcomes that the run counted, errors by their code, and what was expected beside what was got', async () => {
    const { page, noise } = await evaluate(FULL);
    expect(modes()).toEqual([
      'selected',
      'selected',
      'fallback',
      'fallback',
      'selected',
      'selected',
      'passthrough',
      'passthrough',
    ]);
    expect((await setup.summary()).counts).toEqual({ done: 8, answered: 7, errors: 1, right: 6, wrong: 1 });
    expect(await headline(page)).toBe('2 of 8 results failed');
    expect(await page.locator('.tile').count()).toBe(8);
    expect((await verdicts(page)).map((text) => text.replace(/\s+/gu, ' ').trim())).toEqual([
      '✗ wrong 1',
      '! with an error 1',
      '✓ right 6',
    ]);
    expect(await page.locator('[data-cause]').evaluateAll((all) => all.map((one) => one.dataset.cause))).toEqual([
      'wrong-argument',
      'model_refused',
    ]);
    await page.locator('[data-cause="model_refused"]').click();
    expect(await shownIds(page)).toEqual(['c2']);
    await page.locator('[data-clear]').click();
    await page.locator('select[name="only"]').selectOption('mode:passthrough');
    expect((await shownIds(page)).sort()).toEqual(['c6', 'c7']);

    await page.evaluate("location.hash = '#case=c1'");
    await page.locator('.request').waitFor();
    const row = page.locator('[data-argument="x"][data-verdict="different"]');
    expect(await row.textContent()).toContain('value 1');
    expect(await row.textContent()).toContain('another value');
    for (const side of ['expected', 'got'])
      expect(await page.locator(`[data-graph="${side}"] [data-step="s1"]`).count()).toBe(1);
    expect(noise).toEqual([]);
  });

  it('names a case of which nothing can be said, and counts it neither as right nor as wrong', async () => {
    const { page, noise } = await evaluate(SELECTION, ['--only', 'select']);
    expect((await setup.summary()).counts).toEqual({ done: 8, answered: 7, errors: 1, right: 5, wrong: 1 });
    expect(await headline(page)).toBe('2 of 8 results failed');
    expect((await verdicts(page)).map((text) => text.replace(/\s+/gu, ' ').trim())).toEqual([
      '✗ wrong 1',
      '! with an error 1',
      '? not judged 1',
      '✓ right 5',
    ]);
    await page.locator('[data-verdict="unjudged"]').click();
    expect(await shownIds(page)).toEqual(['c7']);
    await page.locator('[data-case="c7"] summary').first().click();
    await page.locator('.request').waitFor();
    expect(await page.locator('[data-case="c7"] summary b').first().getAttribute('aria-label')).toBe('not judged');
    expect(await page.locator('[data-case="c7"]').textContent()).toContain('No tool fits: the right choice is none.');
    expect(noise).toEqual([]);
  });
});
