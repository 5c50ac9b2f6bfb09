/** The console of a real server in a real browser, watched for errors, and for requests to anywhere else. */
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { startChromium } from '../../support/browser.js';

export interface OpenedConsole {
  readonly page: Page;
  /** Console output, errors of scripts, and requests to other places: all must stay empty. */
  readonly noise: string[];
}

export interface ConsoleBrowser {
  /** @param url with what stands behind `#` */
  open(url: string, more?: BrowserContextOptions & { token?: string; name?: string }): Promise<OpenedConsole>;
  close(): Promise<void>;
}

export async function startConsoleBrowser(): Promise<ConsoleBrowser> {
  const browser: Browser = await startChromium();
  return {
    async open(url, { token, name = '', ...options } = {}) {
      const context = await browser.newContext({ locale: 'en-GB', viewport: { width: 1280, height: 800 }, ...options });
      const proof = JSON.stringify({ token, name });
      // A string: it runs in the page, where the compiler of the tests does not look.
      if (token !== undefined)
        await context.addInitScript(`sessionStorage.setItem('winnow-console', ${JSON.stringify(proof)})`);
      const page = await context.newPage();
      const noise: string[] = [];
      page.on('console', (message) => noise.push(`${message.type()}: ${message.text()}`));
      page.on('pageerror', (error) => noise.push(error.message));
      const { origin } = new URL(url);
      page.on('request', (request) => {
        if (!/^(?:data|blob):/u.test(request.url()) && new URL(request.url()).origin !== origin)
          noise.push(`request: ${request.url()}`);
      });
      await page.goto(url);
      await page.waitForSelector('html[data-ready]');
      return { page, noise };
    },
    close: () => browser.close(),
  };
}

/** Wider than the screen is what would be scrolled sideways. */
export const isTooWide = (page: Page): Promise<boolean> =>
  page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth');
