/**
 * Writes a report of a generated run, to look at and to measure; with a fourth argument also a picture of its charts above that of an opened case:
 * `node --import ./test/support/typescript-loader.mjs test/eval/report/example-report.mjs OUT.html [CASES] [REPEATS] [PICTURE.png]`
 */
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';
import { renderReport } from '../../../src/eval/report/render-report.ts';
import { describeRun } from './describe-run.ts';
import { generateRun } from './generated-run.ts';
import { CHROMIUM } from './open-report.ts';

const [out = 'report.html', cases = '400', repeats = '1', picture] = process.argv.slice(2);
const started = Date.now();
const generated = generateRun({ cases: Number(cases), repeats: Number(repeats) });
const sample = [...generateRun({ cases: Math.min(Number(cases), 2000) }).records()];
const run = describeRun(sample, { planned: Number(cases) * Number(repeats) });
const facts = await renderReport({ run, records: generated.records(), promptText: generated.promptText, out });
const seconds = (Date.now() - started) / 1000;
const megabytesOfMemory = Math.round(process.resourceUsage().maxRSS / 1024);
process.stdout.write(`${JSON.stringify({ ...facts, seconds, megabytesOfMemory })}\n`);

/** A window on a part of the page, as the browser shows it. */
async function shoot(browser, { hash, ready, width, height, top }) {
  const page = await browser.newPage({ viewport: { width, height }, locale: 'en-GB' });
  await page.goto(`${pathToFileURL(resolve(out)).href}${hash}`);
  await page.locator(ready).first().waitFor();
  await page.evaluate((place) => {
    const panel = document.querySelector('#case');
    const target = document.querySelector(place);
    if (panel?.contains(target)) panel.scrollTop = target.offsetTop - panel.offsetTop - 90;
    else target?.scrollIntoView();
  }, top);
  await page.waitForTimeout(500);
  return (await page.screenshot()).toString('base64');
}

if (picture) {
  const isTelling = ({ tags, cause, selection }) =>
    tags.includes('rain') && cause === 'missing-step' && selection?.mode === 'selected';
  const chain = sample.find(isTelling) ?? sample[0];
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-gpu'] });
  const [width, above, below] = [1160, 830, 790];
  const parts = [
    await shoot(browser, { width, height: above, hash: '', ready: '#charts[aria-busy="false"]', top: '#filters' }),
    await shoot(browser, {
      width,
      height: below,
      hash: `#case=${chain?.id}`,
      ready: '.case-body',
      top: '#case .part.tools',
    }),
  ];
  const page = await browser.newPage({ viewport: { width, height: above + below } });
  const images = parts.map((part) => `<img src="data:image/png;base64,${part}">`);
  await page.setContent(`<style>body { margin: 0 } img { display: block }</style>${images.join('')}`);
  await page.screenshot({ path: picture });
  await browser.close();
}
