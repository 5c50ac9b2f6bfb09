/**
 * Writes a report of a generated run, to look at and to measure; with a fourth argument also a picture of an opened case:
 * `node --import ./test/support/typescript-loader.mjs test/evaluation/report/example-report.mjs OUT.html [CASES] [REPEATS] [PICTURE.png]`
 */
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';
import { renderReport } from '../../../src/evaluation/report/render-report.ts';
import { describeRun } from './describe-run.ts';
import { generateRun } from './generated-run.ts';
import { CHROMIUM } from './open-report.ts';

const [out = 'report.html', cases = '400', repeats = '1', picture] = process.argv.slice(2);
const started = Date.now();
const generated = generateRun({ cases: Number(cases), repeats: Number(repeats) });
const sample = [...generateRun({ cases: Math.min(Number(cases), 2000) }).records()];
const run = describeRun(sample, { cases: Number(cases) * Number(repeats) });
const facts = await renderReport({ run, records: generated.records(), promptText: generated.promptText, out });
const seconds = (Date.now() - started) / 1000;
const megabytesOfMemory = Math.round(process.resourceUsage().maxRSS / 1024);
process.stdout.write(`${JSON.stringify({ ...facts, seconds, megabytesOfMemory })}\n`);

if (picture) {
  const chain = sample.find(({ tags, cause }) => tags.includes('chain') && cause === 'missing-step') ?? sample[0];
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-gpu'] });
  const page = await browser.newPage({ viewport: { width: 1280, height: 860 }, locale: 'en-GB' });
  await page.goto(`${pathToFileURL(resolve(out)).href}#case=${chain?.id}`);
  await page.locator('.case-body').waitFor();
  await page.screenshot({ path: picture });
  await browser.close();
}
