/** The page Try in a real browser: from typing to the plan, with its reasons; and all that may go wrong on the way. */
import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { WinnowError } from '../../../src/core/errors.js';
import type { PlanResult, TraceEvent } from '../../../src/core/result.js';
import { parseCase } from '../../../src/eval/case.js';
import { FIND_FAINT_TEXT, findByAxe } from '../../support/browser.js';
import { describeInBrowser } from '../../support/in-browser.js';
import { fail } from '../../support/server-behaviours.js';
import { closeAtOnce } from '../http/setup.js';
import { isTooWide, startConsoleBrowser } from './open-console.js';
import { CHOICE, COMMON, MARKUP, startConsole, startHydrology, tellingPlanner, WRITTEN } from './setup.js';

const type = async (page: Page, message: string) => {
  await page.locator('[name="message"]').fill(message);
  await page.locator('[name="message"]').press('Control+Enter');
};
const stages = (page: Page) =>
  page.locator('[data-stage]').evaluateAll((all) => all.map((one) => one.getAttribute('data-stage')));
const texts = async (page: Page, selector: string) =>
  (await page.locator(selector).allTextContents()).map((text) => text.replace(/\s+/gu, ' ').trim());

const ASKS: TraceEvent = {
  stage: 'planning',
  milliseconds: 900,
  note: 'a tool for each ask',
  asks: [
    { ask: `read ${MARKUP}`, tool: 'file_read', ranked: [{ name: 'file_read', lift: 3.5, fits: 0.91, odds: 4.2 }] },
    { ask: 'sing', ranked: [{ name: 'file_list', lift: 1, fits: 0.02, odds: 0.1 }] },
  ],
};

describeInBrowser('the page Try', startConsoleBrowser, (browser) => {
  it('goes from typing to the plan as a graph, says why each tool is there, and saves a case', async () => {
    const { url, server } = await startHydrology([CHOICE, WRITTEN, CHOICE, WRITTEN]);
    const { page, noise } = await browser().open(url);
    await expect.poll(() => page.title(), { timeout: 10_000 }).toBe('Try · Winnow');
    await type(page, '盘石头水库当前水位');
    await page.locator('[data-kind="plan"]').waitFor();
    expect(await stages(page)).toEqual(expect.arrayContaining(['scope', 'summaries', 'selection', 'planning']));
    expect(await page.locator('.graph [data-step]').count()).toBe(2);
    expect(await texts(page, '[data-edge="s1 s2"]')).toEqual(['stcd']);
    expect(await texts(page, '[data-plan-step="s2"] [data-argument="stcd"]')).toEqual([
      'stcd ${s1.stcd} from an earlier step',
    ]);
    expect(await texts(page, '[data-plan-step="s1"] [data-from]')).toEqual(['from the request']);
    expect(await texts(page, '[data-selected="query_reservoir_last"]')).toEqual([
      expect.stringMatching(/^query_reservoir_last in the plan named by the model1/u),
    ]);
    expect(await texts(page, '[data-dropped]')).toEqual([expect.stringContaining('no_such_tool was named')]);
    expect((await texts(page, '[data-cost] li'))[0]).toMatch(/^Selection: \d+ read/u);

    for (const [name, why] of [
      ['query_reservoir_last', 'as step s2'],
      ['no_such_tool', 'there is no such tool'],
      ['start_auto_forecast', 'ranked before it'],
      ['nowhere', 'not visible'],
    ] as const) {
      await page.locator('[name="why-not"]').fill(name);
      await page.locator('[name="why-not"]').press('Tab');
      await page.locator('[data-why-not]', { hasText: why }).waitFor();
    }

    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Save as a case' }).click(),
    ]);
    const line = readFileSync(await download.path(), 'utf8');
    const { case: one } = parseCase(line, { suite: 'mine', file: download.suggestedFilename(), line: 1 });
    expect(one.request.message).toBe('盘石头水库当前水位');
    expect(one.expected).toMatchObject({ tools: ['lookup_station_code', 'query_reservoir_last'], edges: [[0, 1]] });

    // The address holds the request, so that a link shows it, and it can be edited and asked again.
    const again = await page.context().newPage();
    await again.goto(page.url());
    expect(await again.locator('[name="message"]').inputValue()).toBe('盘石头水库当前水位');
    await page.getByText('More fields').click();
    await page.locator('[name="more"]').fill('{"deny": ["start_auto_forecast"]}');
    await page.getByRole('button', { name: 'Plan again' }).click();
    await server.received(4);
    await page.locator('[data-kind="plan"]').waitFor();
    await page.locator('[name="why-not"]').fill('start_auto_forecast');
    await page.locator('[name="why-not"]').press('Tab');
    await page.locator('[data-why-not]', { hasText: 'not visible' }).waitFor();
    expect(noise).toEqual([]);
  });

  it('sends further fields, says which are wrong, and copies the result', async () => {
    const asked: unknown[] = [];
    const question = { question: `Which ${MARKUP}?`, missing: ['path'], unserved: ['sing'] };
    const answer: PlanResult = { ...COMMON, kind: 'clarification', ...question };
    const told = tellingPlanner([ASKS], answer);
    const planner = {
      ...told,
      plan: (...given: Parameters<typeof told.plan>) => {
        asked.push(given[0]);
        return told.plan(...given);
      },
    };
    const { url } = await startConsole({ planner });
    const { page, noise } = await browser().open(url, { permissions: ['clipboard-read', 'clipboard-write'] });
    await page.getByText('More fields').click();
    await page.locator('[name="more"]').fill('{"maxTools": }');
    await type(page, 'read it');
    await page.getByRole('alert').filter({ hasText: 'no JSON object' }).waitFor();
    await page.locator('[name="more"]').fill('{"maxTools": 0}');
    await type(page, 'read it');
    await page.locator('[data-failure="invalid_request"]', { hasText: 'maxTools' }).waitFor();
    await page.locator('[name="more"]').fill('{"maxTools": 2}');
    await type(page, 'read it');
    await page.locator('[data-kind="clarification"]').waitFor();
    expect(asked).toMatchObject([{ message: 'read it', maxTools: 2 }]);
    // What stands in texts of tools, results and users is text.
    expect(await texts(page, '[data-kind="clarification"] .query')).toEqual([`Which ${MARKUP}?`]);
    expect(await texts(page, '[data-kind="clarification"] [data-unserved] li')).toEqual(['sing']);
    expect(await texts(page, '.ask p')).toEqual([`“read ${MARKUP}” → file_read`, '“sing” → no tool']);
    expect(await texts(page, '.ask tbody tr')).toEqual(['file_read0.914.23.5', 'file_list0.020.11']);
    expect(await page.locator('main img, main script').count()).toBe(0);
    await page.getByRole('button', { name: 'Copy as JSON' }).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    expect(JSON.parse(await page.evaluate('navigator.clipboard.readText()'))).toMatchObject({ kind: 'clarification' });
    // The one request that the server refused.
    expect(noise).toEqual([expect.stringContaining('400')]);
  });

  it('shows values so that none is taken for another', async () => {
    const values = { number: 5, digits: '5', empty: '', blank: ' a', words: 'a b', object: { a: 1 }, json: '{"a":1}' };
    const steps = [{ id: 's1', tool: 'file_read', arguments: values, purpose: '', dependsOn: [] }];
    const plan: PlanResult = { ...COMMON, kind: 'plan', goal: '', steps, levels: [['s1']], unserved: ['sing'] };
    const { url } = await startConsole({ planner: tellingPlanner([], plan) });
    const { page } = await browser().open(url);
    await type(page, 'read it and sing');
    await page.locator('[data-unserved]', { hasText: 'sing' }).waitFor();
    const shown = ['5', '"5"', '""', '" a"', 'a b', '{"a":1}', '"{\\"a\\":1}"'];
    expect(await texts(page, '[data-argument] [data-side]')).toEqual(shown);
  });

  it('shows stages as they happen, and cancels', async () => {
    const { url } = await startConsole({ planner: tellingPlanner([ASKS]) });
    const { page, noise } = await browser().open(url);
    await type(page, 'read it');
    await page.locator('.ask').first().waitFor();
    expect(await page.getByRole('status').first().textContent()).toBe('Planning …');
    await page.keyboard.press('Escape');
    await page.locator('[data-failure="stopped"]').waitFor();
    expect(await page.getByRole('button', { name: 'Cancel' }).count()).toBe(0);
    expect(await stages(page)).toEqual(['planning']);
    expect(noise).toEqual([]);
  });

  it.each<[string, PlanResult | Error, string, RegExp]>([
    [
      'no plan',
      { ...COMMON, kind: 'unplannable', reason: 'Nothing sings.' },
      '[data-kind="unplannable"]',
      /Nothing sings/u,
    ],
    [
      'a model that is away',
      new WinnowError('model_unavailable', 'secret'),
      '[data-failure="model_unavailable"]',
      /does not answer/u,
    ],
  ])('shows %s as such', async (_, answer, selector, text) => {
    const { url } = await startConsole({ planner: tellingPlanner([ASKS], answer) });
    const { page } = await browser().open(url);
    await type(page, 'sing');
    await page.locator(selector).waitFor();
    expect(await page.locator(selector).textContent()).toMatch(text);
    expect(await page.content()).not.toContain('secret');
  });

  it('says that selection fell back, and that a server is dead', async () => {
    const { url, app } = await startHydrology([fail(401, 'no key'), WRITTEN]);
    const { page, noise } = await browser().open(url);
    await type(page, '盘石头水库当前水位');
    await page.locator('[data-kind="plan"]').waitFor();
    expect(await texts(page, '[data-stage="fallback"] .badge')).toEqual(['fallback']);
    await page.getByText('selection failed: all that fit').waitFor();
    expect(noise).toEqual([]);
    await closeAtOnce(app);
    await type(page, 'again');
    await page.locator('[data-failure="unreachable"]').first().waitFor();
    expect(await page.locator('[data-failure="unreachable"]').first().textContent()).toContain('Is it running?');
  });

  it.each([
    ['light', 1280],
    ['dark', 1280],
    ['light', 390],
    ['dark', 390],
  ] as const)('has no findings and fits, in %s at %i pixels', async (colorScheme, width) => {
    const { url } = await startHydrology([CHOICE, WRITTEN]);
    const { page, noise } = await browser().open(url, { colorScheme, viewport: { width, height: 800 } });
    expect([await page.evaluate(FIND_FAINT_TEXT), await findByAxe(page), await isTooWide(page)]).toEqual([
      [],
      [],
      false,
    ]);
    await type(page, '盘石头水库当前水位');
    await page.locator('[data-kind="plan"]').waitFor();
    await page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true");
    expect([await page.evaluate(FIND_FAINT_TEXT), await findByAxe(page), await isTooWide(page)]).toEqual([
      [],
      [],
      false,
    ]);
    expect(noise).toEqual([]);
  });

  it('speaks Chinese to who reads it, and changes when told to', async () => {
    const { url } = await startConsole();
    const { page } = await browser().open(url, { locale: 'zh-CN' });
    expect(await page.locator('h1').textContent()).toBe('试用');
    expect(await page.locator('html').getAttribute('lang')).toBe('zh-CN');
    await page.locator('header select').selectOption('en');
    await page.locator('h1', { hasText: 'Try' }).waitFor();
    await page.reload();
    expect(await page.locator('h1').textContent()).toBe('Try');
  });

  it('is used by the keyboard alone', async () => {
    const { url } = await startConsole({
      planner: tellingPlanner([], { ...COMMON, kind: 'unplannable', reason: 'no' }),
    });
    const { page } = await browser().open(url);
    const focused = () =>
      page.evaluate<string>("document.activeElement.getAttribute('name') ?? document.activeElement.id");
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    expect(await focused()).toBe('main');
    await page.keyboard.press('Tab');
    expect(await focused()).toBe('message');
    await page.keyboard.type('sing');
    // What is typed stays, whatever else is looked at meanwhile.
    await page.evaluate("location.hash = '#tools'");
    await page.locator('[data-tool]').first().waitFor();
    await page.evaluate("location.hash = '#try'");
    await page.locator('[name="message"]').focus();
    expect(await page.locator('[name="message"]').inputValue()).toBe('sing');
    await page.keyboard.press('Control+Enter');
    await page.locator('[data-kind="unplannable"]').waitFor();
    expect(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')).toBe('solid');
  });
});
