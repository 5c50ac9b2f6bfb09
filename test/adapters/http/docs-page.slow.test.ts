/** `/docs` in a real browser: it shows every operation, asks nobody else, and sends a request to this server. */
import { expect, it } from 'vitest';
import { startChromium } from '../../support/browser.js';
import { describeInBrowser } from '../../support/in-browser.js';
import { ASKED, answeringPlanner, startServer } from './setup.js';

describeInBrowser('the page /docs', startChromium, (browser) => {
  it('shows what there is and lets a reader try it, with nothing from elsewhere', async () => {
    const { url } = await startServer({ planner: answeringPlanner() });
    const page = await browser().newPage();
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
