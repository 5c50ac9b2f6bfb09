/** The page Runs in a real browser: what became of each step is shown as text, and a person resumes, retries and cancels. */
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { createFunctionExecutor, type ToolFunction } from '../../../src/agents/sandbox/executors/functions.js';
import { FIND_FAINT_TEXT, findByAxe } from '../../support/browser.js';
import { describeInBrowser } from '../../support/in-browser.js';
import { type AgentServerOptions, OPERATOR_TOKEN } from '../http/agents/setup.js';
import { isTooWide, startConsoleBrowser } from './open-console.js';
import { MARKUP, startConsole } from './setup.js';

const SIGNED_IN = { token: OPERATOR_TOKEN, name: 'olga' };

const step = (id: string, tool: string, path?: string) => ({ id, tool, arguments: path === undefined ? {} : { path } });
const TIDY = {
  goal: 'tidy up',
  inputs: { file: { value: 'b.txt' } },
  steps: [
    { ...step('s1', 'file_list'), purpose: 'what is there' },
    { ...step('s2', 'file_delete', '${s1.path}'), from: { path: 'step' } },
    { ...step('s3', 'file_read', '${input.file}'), dependsOn: ['s1'] },
  ],
};

type StartOptions = Pick<AgentServerOptions, 'policy'> & Omit<NonNullable<AgentServerOptions['more']>, 'policy'>;

/** A server on which ann has run plans; `functions` stand in for those that answer at once. */
async function startRuns(functions: Record<string, ToolFunction> = {}, { policy, ...more }: StartOptions = {}) {
  const executors = [
    createFunctionExecutor({
      file_list: () => ({ path: 'a.txt' }),
      file_read: () => ({ text: 'hello' }),
      file_delete: () => ({ gone: true }),
      ...functions,
    }),
  ];
  const server = await startConsole({
    policy: policy ?? {},
    more: { executors, limits: { timeoutMs: 60_000 }, ...more },
  });
  const as = { user: 'ann' };
  const run = async (plan: object) => {
    const { body: session } = await server.ask('POST /v1/sessions', {}, as);
    const names = ['file_list', 'file_read', 'file_delete'];
    await server.ask(`POST /v1/sessions/${session.id}/enable`, { names }, as);
    return (await server.ask('POST /v1/plans/run', { session: session.id, plan }, as)).body;
  };
  return { ...server, run };
}

const texts = async (page: Page, selector: string) =>
  (await page.locator(selector).allTextContents()).map((text) => text.replace(/\s+/gu, ' ').trim());
const stepText = async (page: Page, id: string) => (await texts(page, `[data-plan-step="${id}"]`))[0];
const status = (page: Page, id: string, is: string) =>
  page.locator(`[data-plan-step="${id}"] [data-status="${is}"]`).first().waitFor();

describeInBrowser('the page Runs', startConsoleBrowser, (browser) => {
  it('lists runs by their state, and leads to one by keyboard', async () => {
    const { url, run } = await startRuns();
    const { id } = await run(TIDY);
    await run({ goal: 'read', steps: [step('s1', 'file_read', 'a')] });
    const { page, noise } = await browser().open(`${url}/#runs`, SIGNED_IN);
    await page.locator('[data-run]').first().waitFor();
    expect(await texts(page, '[data-run] th')).toEqual(['read', 'tidy up']);
    expect(await texts(page, `[data-run="${id}"] td`)).toEqual([
      ...['waits for somebody', 'ann', 'file_list, file_delete, file_read'],
      ...[expect.any(String), expect.any(String)],
    ]);
    await page.locator('[data-state="paused"]').click();
    await page.getByRole('status').filter({ hasText: '1 runs' }).waitFor();
    expect(page.url()).toContain('#runs?state=paused');
    expect(await texts(page, '[data-run] th')).toEqual(['tidy up']);
    await page.getByRole('link', { name: 'tidy up' }).focus();
    await page.keyboard.press('Enter');
    await page.locator(`dl[data-run="${id}"]`).waitFor();
    expect(await page.locator('h1').textContent()).toBe('tidy up');
    expect(noise).toEqual([]);
  });

  it('shows each step in the graph and with its values, and resumes after an approval', async () => {
    const { url, ask, run } = await startRuns();
    const { id, steps } = await run(TIDY);
    const { page, noise } = await browser().open(`${url}/#runs?run=${id}`, SIGNED_IN);
    await status(page, 's2', 'needs_approval');
    expect(await texts(page, 'svg [data-step] text.tone')).toEqual(['s1 ✓', 's2 …', 's3 ✓']);
    expect(await texts(page, 'svg [data-edge] text')).toEqual(expect.arrayContaining(['path', '']));
    expect(await stepText(page, 's2')).toMatch(
      /^s2 file_delete waits for an approval .* path a\.txt from an earlier step file_delete has high risk\. ?Approvals$/u,
    );
    expect(await stepText(page, 's3')).toMatch(/^s3 file_read after s1 done .* path b\.txt Result/u);
    const output = page.locator('[data-plan-step="s3"] [data-output]');
    expect(await output.isVisible()).toBe(false);
    await page.locator('[data-plan-step="s3"] summary').focus();
    await page.keyboard.press('Enter');
    expect(JSON.parse((await output.textContent()) ?? '')).toEqual({ text: 'hello' });

    await ask(`POST /v1/approvals/${steps.s2.approval}/grant`, { by: { user: 'olga' } });
    await page.locator('[data-do="resume"]').click();
    await status(page, 's2', 'done');
    expect(await page.locator('[data-do]').count()).toBe(0);
    expect(await output.isVisible()).toBe(true);
    expect((await ask(`GET /v1/runs/${id}`)).body.state).toBe('done');
    expect(noise).toEqual([]);
  });

  it('retries what failed, and what may have taken effect only where a person says so', async () => {
    const works = { listed: 0, deleted: 0 };
    const functions: Record<string, ToolFunction> = {
      file_list: () => {
        works.listed += 1;
        return { path: 'a.txt' };
      },
      file_delete(_, { signal }) {
        works.deleted += 1;
        if (works.deleted === 1) throw new Error('the disk is away');
        if (works.deleted > 2) return { gone: true };
        return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      },
    };
    const policy = { argumentRisks: [{ match: { tool: 'file_delete' }, risk: 'low' as const }] };
    const limits = { tools: { file_delete: { timeoutMs: 300 } } };
    const { url, run } = await startRuns(functions, { policy, limits });
    const { id } = await run({ goal: 'rm', steps: [step('s1', 'file_list'), step('s2', 'file_delete', '${s1.path}')] });
    const { page, noise } = await browser().open(`${url}/#runs?run=${id}`, SIGNED_IN);
    await status(page, 's2', 'failed');
    expect(await stepText(page, 's2')).toContain('the disk is away');
    expect(await texts(page, '[data-do="resume"]')).toEqual(['Retry what failed']);
    await page.locator('[data-do="resume"]').click();
    await page.locator('[data-step-failure="timeout"]').waitFor();
    expect(works.deleted).toBe(2);
    await page.locator('[data-do="resume"]').click();
    await page.locator('[data-status="unknown"]').waitFor();
    await page.getByLabel('Run s2 again, although it may have taken effect').check();
    await page.locator('[data-do="resume"]').click();
    await status(page, 's2', 'done');
    expect(works).toEqual({ listed: 1, deleted: 3 });
    expect(noise).toEqual([]);
  });

  it('goes on by itself while a run does, and cancels it', async () => {
    const ends: (() => void)[] = [];
    const wait: ToolFunction = (_, { signal }) =>
      new Promise((resolve, reject) => {
        ends.push(() => resolve({ path: 'waited' }));
        signal.addEventListener('abort', () => reject(signal.reason));
      });
    const { url, ask, run } = await startRuns({ file_list: wait, file_read: wait });
    const done = run({ goal: 'long', steps: [step('s1', 'file_list'), step('s2', 'file_read', '${s1.path}')] });
    const { page, noise } = await browser().open(`${url}/#runs?state=running`, SIGNED_IN);
    await page.getByRole('link', { name: 'long' }).click();
    await status(page, 's1', 'running');
    ends[0]?.();
    await status(page, 's2', 'running');
    await page.locator('[data-do="cancel"]').click();
    await page.locator('[data-do="resume"]').waitFor();
    expect(await done).toMatchObject({ state: 'cancelled' });
    const { body } = await ask('GET /v1/runs?state=cancelled');
    expect(body.runs).toMatchObject([{ goal: 'long' }]);
    expect(noise).toEqual([]);
  });

  it('shows what tools answered as text, and no more of it than one can read', async () => {
    const long = 'x'.repeat(30_000);
    const { url, run } = await startRuns({ file_read: () => ({ text: `\u202e${MARKUP}${long}` }) });
    const { id } = await run({ goal: MARKUP, steps: [step('s1', 'file_read', MARKUP)] });
    const { page, noise } = await browser().open(`${url}/#runs?run=${id}`, SIGNED_IN);
    await page.locator('[data-output]').waitFor({ state: 'attached' });
    const output = (await page.locator('[data-output]').textContent()) ?? '';
    expect(output).toContain(`\\u202e${MARKUP.replaceAll('"', '\\"')}`);
    expect(output).toHaveLength(20_000);
    expect(await texts(page, 'h1')).toEqual([MARKUP]);
    expect(await page.locator('main img, main script').count()).toBe(0);
    await expect.poll(() => page.title(), { timeout: 10_000 }).toBe('Runs · Winnow');
    expect(noise).toEqual([]);
  });

  it('asks again for secrets, which it gets masked', async () => {
    const { createCatalog } = await import('../../../src/core/catalog/catalog.js');
    const { createTool } = await import('../../support/create-tool.js');
    const pin = { type: 'string', format: 'password' };
    const login = createTool('file_delete', { properties: { pin } }, undefined, { risk: 'high' });
    const pins: unknown[] = [];
    const functions = { file_delete: ({ pin }: Readonly<Record<string, unknown>>) => pins.push(pin) };
    const { url, ask, run } = await startRuns(functions, { catalog: () => createCatalog([login]) });
    const { id, steps } = await run({ steps: [{ id: 's1', tool: 'file_delete', arguments: { pin: 'hunter-22' } }] });
    await ask(`POST /v1/approvals/${steps.s1.approval}/grant`, { by: { user: 'olga' } });
    const { page } = await browser().open(`${url}/#runs?run=${id}`, SIGNED_IN);
    await page.locator('[data-do="resume"]').click();
    await page.locator('[data-failure="invalid_request"]', { hasText: 's1.pin is secret' }).waitFor();
    expect(await page.content()).not.toContain('hunter-22');
    await page.locator('[name="secrets"]').fill('{"s1":');
    await page.locator('[data-do="resume"]').click();
    await page.locator('[data-failure]', { hasText: 'no JSON object' }).waitFor();
    await page.locator('[name="secrets"]').fill('{"s1": {"pin": "hunter-22"}}');
    await page.locator('[data-do="resume"]').click();
    await status(page, 's1', 'done');
    expect(pins).toEqual(['hunter-22']);
  });

  it.each([
    ['light', 1280, 'en-GB'],
    ['dark', 1280, 'zh-CN'],
    ['light', 390, 'zh-CN'],
    ['dark', 390, 'en-GB'],
  ] as const)('has no findings and fits, in %s at %i pixels, %s', async (colorScheme, width, locale) => {
    const long = 'a-long-name-'.repeat(30);
    const { url, run } = await startRuns({
      file_read: () => {
        throw new Error(long);
      },
      file_list: () => ({ path: [long, 'b'] }),
    });
    const loop = { ...step('s4', 'file_delete', '${item}'), each: '${s1.path}' };
    const when = { value: '${s1.path}', is: 'empty' };
    const steps = [step('s1', 'file_list'), step('s2', 'file_read', long), loop, { ...step('s5', 'file_list'), when }];
    const { id } = await run({ goal: long, inputs: { city: { value: long } }, steps });
    const view = { ...SIGNED_IN, colorScheme, locale, viewport: { width, height: 800 } } as const;
    for (const [address, ready] of [
      ['#runs', '[data-run]'],
      [`#runs?run=${id}`, '[data-item]'],
    ] as const) {
      const { page, noise } = await browser().open(`${url}/${address}`, view);
      await page.locator(ready).first().waitFor();
      for (const summary of await page.locator('main summary').all()) await summary.click();
      const found = [await page.evaluate(FIND_FAINT_TEXT), await findByAxe(page), await isTooWide(page)];
      expect([address, ...found, noise]).toEqual([address, [], [], false, []]);
      await page.context().close();
    }
  });
});
