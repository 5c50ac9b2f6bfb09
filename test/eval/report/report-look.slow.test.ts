/** What can be measured of the page's look: contrast in light and dark, and that a phone shows it without sideways scrolling. */
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
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

inBrowser(`the look of a report${skipped}`, () => {
  let browser: ReportBrowser;
  let file: string;
  const records = [...generateRun({ cases: 60, seed: 4 }).records()];
  const wrong = records.find(({ cause }) => cause === 'not-ranked')?.id;

  beforeAll(async () => {
    browser = await startReportBrowser();
    file = await browser.write(records);
  });
  afterAll(() => browser.close());

  it.each([
    ['light', 1280],
    ['dark', 1280],
    ['light', 400],
    ['dark', 400],
  ] as const)('can be read and fits in %s at %i pixels, with a case open and without', async (colorScheme, width) => {
    const { page, noise } = await browser.open(file, { colorScheme, viewport: { width, height: 800 } });
    const isWide = 'document.documentElement.scrollWidth > innerWidth';
    expect(await page.evaluate(FIND_FAINT_TEXT)).toEqual([]);
    expect(await page.evaluate(isWide)).toBe(false);
    await page.evaluate(`location.hash = 'case=${wrong}'`);
    await page.locator('.case-body').waitFor();
    expect(await page.evaluate(FIND_FAINT_TEXT)).toEqual([]);
    expect(
      await page.evaluate(
        `${isWide} || document.querySelector('#case').scrollWidth > document.querySelector('#case').clientWidth`,
      ),
    ).toBe(false);
    expect(noise).toEqual([]);
  });

  it.each([1_000, 400])('keeps a tiny cost on one line of its tile at %i pixels', async (width) => {
    const cost = {
      name: 'cost',
      label: 'Cost, a case',
      group: 'cost',
      unit: 'currency',
      better: 'lower',
      count: 60,
    } as const;
    const metrics = [{ ...cost, mean: 0.00006789, low: 0.00006512, high: 0.00007113 }];
    const own = await browser.write(records, { run: { metrics } });
    const { page } = await browser.open(own, { viewport: { width, height: 800 } });
    const value = page.locator('.tile-value', { hasText: '0.0000679' });
    const wide = `[...document.querySelectorAll('.tile-value')]
      .filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.textContent)`;
    expect(await page.evaluate(wide)).toEqual([]);
    expect((await value.boundingBox())?.height).toBeLessThan(32);
  });

  it('has a name for every control', async () => {
    const { page } = await browser.open(file, { hash: `#case=${wrong}` });
    await page.locator('.case-body').waitFor();
    const nameless = `[...document.querySelectorAll('button, a, select, input, svg[role=img]')]
      .filter((one) => !(one.getAttribute('aria-label') || one.textContent.trim())).map((one) => one.outerHTML)`;
    expect(await page.evaluate(nameless)).toEqual([]);
  });
});
