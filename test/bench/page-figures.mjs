/**
 * What a reader waits for at the page of a run, in Chromium: seconds until the list shows, milliseconds from a keystroke in
 * the search until the new list is on the screen, and the memory of its script.
 * `node --import ./test/support/typescript-loader.mjs test/bench/page-figures.mjs REPORT.html [TEXT]`; `eval-scale.mjs` runs it, too.
 */
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';
import { CHROMIUM } from '../eval/report/open-report.ts';
import { renderSpread, spread } from './statistics.mjs';

/** Typed as fast as a practised typist does: charts that are drawn late delay the next key, and count. */
const PAUSE_MS = 120;
const ROUNDS = 3;

/** A key counts from when the browser had it until the frame after it was drawn. */
function watchKeys() {
  globalThis.waits = [];
  addEventListener('input', ({ timeStamp }) => {
    requestAnimationFrame(() => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => globalThis.waits.push(performance.now() - timeStamp);
      port2.postMessage('drawn');
    });
  });
}

async function measure(file, text) {
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-gpu'] });
  try {
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    const startedAt = performance.now();
    await page.goto(pathToFileURL(resolve(file)).href, { waitUntil: 'commit', timeout: 0 });
    await page.locator('li[data-case]').first().waitFor({ timeout: 0 });
    const seconds = (performance.now() - startedAt) / 1_000;
    await page.evaluate(watchKeys);
    for (let round = 0; round < ROUNDS; round += 1) {
      await page.locator('input[name=q]').pressSequentially(text, { delay: PAUSE_MS, timeout: 0 });
      await page.locator('input[name=q]').fill('');
    }
    const waits = await page.evaluate(() => globalThis.waits);
    const client = await page.context().newCDPSession(page);
    await client.send('HeapProfiler.collectGarbage');
    const { usedSize } = await client.send('Runtime.getHeapUsage');
    const rows = await page.locator('li[data-case]').count();
    return {
      seconds,
      waits,
      megabytes: usedSize / 1e6,
      rows,
      shown: await page.locator('[role=status]').textContent(),
    };
  } finally {
    await browser.close();
  }
}

const [file, text = 'read value number 42'] = process.argv.slice(2);
if (!file || !CHROMIUM) {
  process.stdout.write(`the page: not measured, ${file ? 'chromium is not installed' : 'name a file'}\n`);
} else {
  const { seconds, waits, megabytes, rows, shown } = await measure(file, text);
  process.stdout.write(`the page in Chromium: the list shows after ${seconds.toFixed(1)} s; ${shown}, ${rows} rows in the document
a keystroke in the search -> the new list: ${renderSpread(spread(waits))} ms, ${waits.length} keys
heap of the script: ${megabytes.toFixed(0)} MB
`);
}
