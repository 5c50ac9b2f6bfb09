/**
 * Writes a report of a generated run, to look at and to measure; with a fourth argument also a picture of its head above that of an opened case:
 * `node --import ./test/support/typescript-loader.mjs test/eval/report/example-report.mjs OUT.html [CASES] [REPEATS] [PICTURE.png]`
 */
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { renderReport } from '../../../src/eval/report/render-report.ts';
import { startChromium } from '../../support/browser.ts';
import { describeRun } from './describe-run.ts';
import { generateRun } from './generated-run.ts';

const WIDTH = 1160;
const [out = 'report.html', cases = '400', repeats = '1', picture] = process.argv.slice(2);
const started = Date.now();
const generated = generateRun({ cases: Number(cases), repeats: Number(repeats) });
const sample = [...generateRun({ cases: Math.min(Number(cases), 2000) }).records()];
const run = describeRun(sample, { planned: Number(cases) * Number(repeats) });
await renderReport({ run, records: generated.records(), promptText: generated.promptText, out });
const seconds = (Date.now() - started) / 1000;
const megabytesOfMemory = Math.round(process.resourceUsage().maxRSS / 1024);
process.stdout.write(`${JSON.stringify({ bytes: statSync(out).size, seconds, megabytesOfMemory })}\n`);

/** The top of the page, or of an opened case, as the browser shows it. */
async function shoot(browser, { hash, ready, height }) {
  const page = await browser.newPage({ viewport: { width: WIDTH, height }, locale: 'en-GB' });
  await page.goto(`${pathToFileURL(resolve(out)).href}${hash}`);
  await page.locator(ready).first().waitFor();
  await page.waitForTimeout(500);
  return (await page.screenshot()).toString('base64');
}

if (picture) {
  const isTelling = ({ tags, cause, selection }) =>
    tags.includes('rain') && cause === 'missing-step' && selection?.mode === 'selected';
  const chain = sample.find(isTelling) ?? sample[0];
  const browser = await startChromium();
  const heights = [830, 790];
  const parts = [
    await shoot(browser, { height: heights[0], hash: '', ready: '.causes' }),
    await shoot(browser, { height: heights[1], hash: `#case=${chain?.id}`, ready: '.request' }),
  ];
  const page = await browser.newPage({ viewport: { width: WIDTH, height: heights[0] + heights[1] } });
  const images = parts.map((part) => `<img src="data:image/png;base64,${part}">`);
  await page.setContent(`<style>body { margin: 0 } img { display: block }</style>${images.join('')}`);
  await page.screenshot({ path: picture });
  await browser.close();
}
