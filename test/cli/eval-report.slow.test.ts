/** The page that `winnow eval` itself writes, in a real browser: what it shows is what the run counted. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { startReportBrowser } from '../eval/report/open-report.js';
import { shownIds } from '../eval/report/shown-cases.js';
import { describeInBrowser } from '../support/in-browser.js';
import type { Behaviour } from '../support/scripted-server.js';
import { answerJson, fail, refusal } from '../support/server-behaviours.js';
import { cases, type EvalSetup, setUpEval, tools } from './eval-setup.js';
import { runEval } from './run-eval.js';

const ALL = cases.flatMap(({ expectedTools }) => expectedTools);
/** Two tools are handed on as they are: of c6 and c7, which see one, selection is skipped. Nothing fits c7. */
const CASES = cases.map((one, place) => ({
  ...one,
  candidates: place < 6 ? ALL : ['tool_6'],
  ...(place === 7 ? { expectedTools: [], expectedSteps: [] } : {}),
}));
const SETTINGS = ['--distractors', '0', '--set', 'passthroughTools=2,fillTokens=0', '--no-cache'];

/** What goes wrong, request by request of a case; all others are answered rightly. */
const WRONG: Record<number, Behaviour[]> = {
  1: [answerJson({ selected_tools: ['tool_5'], reason: 'r' })],
  2: [fail(401, 'no key')],
  3: [refusal(), refusal()],
};

describeInBrowser('the page that eval writes', startReportBrowser, (browser) => {
  let setup: EvalSetup;
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

  it('has the outcomes that the run counted, errors by their code, and names a case of which nothing can be said', async () => {
    const asked = new Map<number, number>();
    setup.instead = (place) => {
      const before = asked.get(place) ?? 0;
      asked.set(place, before + 1);
      return WRONG[place]?.[before];
    };
    const { exitCode, error } = await runEval(setup.words([...SETTINGS, '--only', 'select']));
    expect([exitCode, error]).toEqual([0, undefined]);
    const { page, noise } = await browser().open(join(setup.out, 'report.html'));
    expect((await setup.summary()).counts).toEqual({ done: 8, answered: 7, errors: 1, right: 5, wrong: 1 });
    expect(await page.locator('h2').first().textContent()).toBe('2 of 8 results failed');
    const verdicts = await page.locator('[data-verdict]').allTextContents();
    expect(verdicts.map((text) => text.replace(/\s+/gu, ' ').trim())).toEqual([
      '✗ wrong 1',
      '! with an error 1',
      '? not judged 1',
      '✓ right 5',
    ]);
    await page.locator('[data-cause="model_refused"]').click();
    expect(await shownIds(page)).toEqual(['c2']);
    await page.locator('[data-clear]').click();
    await page.locator('select[name="only"]').selectOption('mode:passthrough');
    expect((await shownIds(page)).sort()).toEqual(['c6', 'c7']);
    await page.locator('[data-clear]').click();
    await page.locator('[data-verdict="unjudged"]').click();
    expect(await shownIds(page)).toEqual(['c7']);
    await page.locator('[data-case="c7"] summary').first().click();
    await page.locator('.request').waitFor();
    expect(await page.locator('[data-case="c7"] summary b').first().getAttribute('aria-label')).toBe('not judged');
    expect(await page.locator('[data-case="c7"]').textContent()).toContain('No tool fits: the right choice is none.');
    expect(noise).toEqual([]);
  });
});
