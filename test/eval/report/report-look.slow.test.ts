/** What can be measured of the page's look: contrast in light and dark, accessibility by axe, no sideways scrolling on a phone. */

import { beforeAll, expect, it } from 'vitest';
import { FIND_FAINT_TEXT, findByAxe } from '../../support/browser.js';
import { describeInBrowser } from '../../support/in-browser.js';
import { generateRun } from './generated-run.js';
import { startReportBrowser } from './open-report.js';

describeInBrowser('the look of a report', startReportBrowser, (browser) => {
  let single: string;
  let compared: string;
  const records = [...generateRun({ cases: 60, seed: 4 }).records()];
  const earlier = [...generateRun({ cases: 60, seed: 5 }).records()];
  const wrong = records.find(({ cause }) => cause === 'not-ranked')?.id;

  beforeAll(async () => {
    single = await browser().write(records);
    compared = await browser().write(records, {
      before: { records: earlier, comparison: { metrics: [], settings: ['a'] } },
    });
  });
  it.each([
    ['light', 1280],
    ['dark', 1280],
    ['light', 390],
    ['dark', 390],
  ] as const)(
    'has no findings and fits in %s at %i pixels, with all opened and without',
    async (colorScheme, width) => {
      for (const file of [single, compared]) {
        const { page, noise } = await browser().open(file, { colorScheme, viewport: { width, height: 800 } });
        const isWide = `[...document.querySelectorAll('html, .case')].some((one) => one.scrollWidth > innerWidth)`;
        expect([await page.evaluate(FIND_FAINT_TEXT), await findByAxe(page), await page.evaluate(isWide)]).toEqual([
          [],
          [],
          false,
        ]);
        await page.evaluate(`location.hash = 'case=${wrong}'`);
        await page.locator('.request').waitFor();
        await page.evaluate(
          "for (const one of document.querySelectorAll('details:not(#list > li > details)')) one.open = true",
        );
        expect([await page.evaluate(FIND_FAINT_TEXT), await findByAxe(page), await page.evaluate(isWide)]).toEqual([
          [],
          [],
          false,
        ]);
        expect(noise).toEqual([]);
      }
    },
  );
});
