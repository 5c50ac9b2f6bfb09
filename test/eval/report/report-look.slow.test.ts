/** What can be measured of the page's look: contrast in light and dark, accessibility by axe, no sideways scrolling on a phone. */

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { Page } from 'playwright-core';
import { generateRun } from './generated-run.js';
import { CHROMIUM, type ReportBrowser, startReportBrowser } from './open-report.js';

// A browser on a busy machine takes its time; no test is about it.
jest.setTimeout(60_000);

const inBrowser = CHROMIUM ? describe : describe.skip;
const skipped = CHROMIUM ? '' : ' (skipped: chromium is not installed)';

/** Every element with text of its own whose contrast is below 4.5 to 1 (WCAG 2.2, 1.4.3), as the browser computed it. */
const FIND_FAINT_TEXT = `(() => {
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const known = new Map();
  const toBytes = (color) => {
    if (!known.has(color)) known.set(color, paint(color));
    return known.get(color);
  };
  const paint = (color) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = color;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const lightness = ([red, green, blue]) => {
    const [r, g, b] = [red, green, blue].map((part) => (part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const groundOf = (element) => {
    for (let one = element; one; one = one.parentElement) {
      const color = toBytes(getComputedStyle(one).backgroundColor);
      if (color[3] > 200) return color;
    }
    return [255, 255, 255];
  };
  const faint = [];
  for (const element of document.querySelectorAll('body *')) {
    const hasText = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    if (!hasText || element.closest('script, noscript, option, svg') || !element.checkVisibility()) continue;
    const [text, ground] = [lightness(toBytes(getComputedStyle(element).color)), lightness(groundOf(element))];
    const ratio = (Math.max(text, ground) + 0.05) / (Math.min(text, ground) + 0.05);
    if (ratio < 4.5) faint.push(element.className + ' ' + element.textContent.slice(0, 30) + ' ' + ratio.toFixed(2));
  }
  return faint;
})()`;

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

inBrowser(`the look of a report${skipped}`, () => {
  let browser: ReportBrowser;
  let single: string;
  let compared: string;
  const records = [...generateRun({ cases: 60, seed: 4 }).records()];
  const earlier = [...generateRun({ cases: 60, seed: 5 }).records()];
  const wrong = records.find(({ cause }) => cause === 'not-ranked')?.id;

  beforeAll(async () => {
    browser = await startReportBrowser();
    single = await browser.write(records);
    compared = await browser.write(records, {
      before: { records: earlier, comparison: { metrics: [], settings: ['a'] } },
    });
  });
  afterAll(() => browser.close());

  /** Findings of axe-core, each with the elements that it names. */
  const findByAxe = async (page: Page): Promise<string[]> => {
    await page.evaluate(AXE);
    return page.evaluate<string[]>(
      "axe.run().then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(', ')))",
    );
  };

  it.each([
    ['light', 1280],
    ['dark', 1280],
    ['light', 390],
    ['dark', 390],
  ] as const)(
    'has no findings and fits in %s at %i pixels, with all opened and without',
    async (colorScheme, width) => {
      for (const file of [single, compared]) {
        const { page, noise } = await browser.open(file, { colorScheme, viewport: { width, height: 800 } });
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

  it.each([1_000, 390])('keeps a tiny cost on one line of its tile at %i pixels', async (width) => {
    const cost = {
      name: 'cost',
      label: 'Cost, a case',
      group: 'cost',
      unit: 'currency',
      better: 'lower',
      count: 60,
    } as const;
    const metrics = [{ ...cost, primary: true, mean: 0.00006789, low: 0.00006512, high: 0.00007113 }];
    const own = await browser.write(records, { run: { metrics } });
    const { page } = await browser.open(own, { viewport: { width, height: 800 } });
    const value = page.locator('.value', { hasText: '0.0000679' });
    const wide = `[...document.querySelectorAll('.value')]
      .filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.textContent)`;
    expect(await page.evaluate(wide)).toEqual([]);
    expect((await value.boundingBox())?.height).toBeLessThan(36);
  });
});
