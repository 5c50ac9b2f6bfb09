/** `/docs` in a real browser: it shows every operation, asks nobody else, and sends a request to this server. */
import { type Browser, chromium } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { CHROMIUM } from '../../support/browser.js';
import { ASKED, answeringPlanner, startServer } from './setup.js';

// A browser on a busy machine takes its time; no test is about it.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const inBrowser = CHROMIUM ? describe : describe.skip;
const skipped = CHROMIUM ? '' : ' (skipped: chromium is not installed)';

inBrowser(`the page /docs${skipped}`, () => {
  let browser: Browser;
  beforeAll(async () => {
    const args = ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'];
    browser = await chromium.launch({ ...(CHROMIUM ? { executablePath: CHROMIUM } : {}), args });
  });
  afterAll(() => browser.close());

  it('shows what there is and lets a reader try it, with nothing from elsewhere', async () => {
    const { url } = await startServer({ planner: answeringPlanner() });
    const page = await browser.newPage();
    const noise: string[] = [];
    page.on('console', (message) => noise.push(message.text()));
    page.on('pageerror', (error) => noise.push(error.message));
    page.on('request', (request) => {
      const asked = request.url();
      if (!asked.startsWith(url) && !asked.startsWith('data:')) noise.push(`request: ${asked}`);
    });
    await page.goto(`${url}/docs`);
    const operation = page.locator('#operations-default-plan');
    await operation.waitFor();
    expect(await page.locator('.opblock').count()).toBe(7);
    await operation.locator('.opblock-summary-control').click();
    await operation.getByRole('button', { name: 'Try it out' }).click();
    await operation.locator('textarea.body-param__text').fill(JSON.stringify(ASKED));
    await operation.getByRole('button', { name: 'Execute' }).click();
    const answered = operation.locator('.live-responses-table .response-col_status').last();
    await answered.waitFor();
    expect(await answered.textContent()).toContain('200');
    expect(await operation.locator('.live-responses-table').textContent()).toContain('read_level');
    expect(noise).toEqual([]);
    await page.context().close();
  });
});
