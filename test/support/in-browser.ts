/** Tests in a real Chromium that all of them share; skipped, with a word, where none is installed. */
import { afterAll, beforeAll, describe, vi } from 'vitest';
import { CHROMIUM } from './browser.js';

export function describeInBrowser<Opened extends { close(): Promise<void> }>(
  name: string,
  start: () => Promise<Opened>,
  tests: (browser: () => Opened) => void,
): void {
  // A browser on a busy machine takes its time; no test is about it.
  vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });
  const inBrowser = CHROMIUM ? describe : describe.skip;
  inBrowser(CHROMIUM ? name : `${name} (skipped: chromium is not installed)`, () => {
    let browser: Opened;
    beforeAll(async () => {
      browser = await start();
    });
    tests(() => browser);
    // Behind those of the tests, which close what they have opened.
    afterAll(() => browser.close());
  });
}
