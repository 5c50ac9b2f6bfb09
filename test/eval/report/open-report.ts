/** A report in a real browser: written to a temporary folder, opened from disk, watched for errors and requests. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { BrowserContextOptions, Page } from 'playwright-core';
import type { CaseRecord } from '../../../src/eval/record.js';
import { type ReportedRun, renderReport } from '../../../src/eval/report/render-report.js';
import type { ReportComparison, ReportRun } from '../../../src/eval/report/report-data.js';
import { startChromium } from '../../support/browser.js';
import { describeRun } from './describe-run.js';

/** Of how many records the metrics are: their intervals take seconds for thousands. */
const MEASURED = 1_000;

export interface OpenedReport {
  readonly page: Page;
  /** Console output, errors of scripts, and every request but that for the file itself: all must stay empty. */
  readonly noise: string[];
}

interface WriteOptions {
  run?: Partial<ReportRun>;
  promptText?: ReportedRun['promptText'];
  before?: {
    records: readonly CaseRecord[];
    promptText?: ReportedRun['promptText'];
    comparison: ReportComparison;
  };
}

export interface ReportBrowser {
  write(records: readonly CaseRecord[], more?: WriteOptions): Promise<string>;
  open(file: string, more?: BrowserContextOptions & { hash?: string }): Promise<OpenedReport>;
  close(): Promise<void>;
}

export async function startReportBrowser(): Promise<ReportBrowser> {
  const folder = mkdtempSync(join(tmpdir(), 'winnow-report-'));
  const browser = await startChromium();
  let written = 0;
  return {
    async write(records, { run = {}, promptText = () => undefined, before } = {}) {
      written += 1;
      const out = join(folder, `report-${written}.html`);
      const earlier = before && {
        before: { promptText: () => undefined, ...before, run: describeRun(before.records, { name: 'Before' }) },
      };
      const described = describeRun(records.slice(0, MEASURED), { planned: records.length, ...run });
      await renderReport({ run: described, records, promptText, ...earlier, out });
      return out;
    },
    async open(file, { hash = '', ...options } = {}) {
      const context = await browser.newContext({ locale: 'en-GB', viewport: { width: 1280, height: 800 }, ...options });
      const page = await context.newPage();
      const noise: string[] = [];
      page.on('console', (message) => noise.push(`${message.type()}: ${message.text()}`));
      page.on('pageerror', (error) => noise.push(error.message));
      const own = pathToFileURL(file).href;
      page.on('request', (request) => {
        if (request.url().split('#')[0] !== own) noise.push(`request: ${request.url()}`);
      });
      await page.goto(`${own}${hash}`);
      await page.waitForSelector('html[data-ready]');
      return { page, noise };
    },
    async close() {
      await browser.close();
      rmSync(folder, { recursive: true });
    },
  };
}
