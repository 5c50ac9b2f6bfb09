/** Which cases the list shows, compared with the records that it should: what failed first, then in the order of the run. */
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import type { CaseRecord } from '../../../src/eval/record.js';
import { stateOf } from '../../../src/eval/report/report-data.js';

const ORDER = ['wrong', 'error', 'unjudged', 'right'];

export const idsOf = (records: readonly CaseRecord[]) => records.map(({ id }) => id);
export const failedFirst = (records: readonly CaseRecord[]) =>
  [...records].sort((one, other) => ORDER.indexOf(stateOf(one)) - ORDER.indexOf(stateOf(other)));

export const shownIds = (page: Page) =>
  page.locator('#list > li').evaluateAll((rows) => rows.map((row) => row.getAttribute('data-case')));
export const countShown = async (page: Page) =>
  Number(((await page.locator('[role="status"]').textContent()) ?? '').replaceAll(',', '').match(/\d+/u)?.[0]);

/** Until the list has as many rows: they come in portions. */
export async function waitForRows(page: Page, count: number): Promise<void> {
  const rows = page.locator('#list > li');
  if (count > 0) await rows.nth(count - 1).waitFor({ state: 'attached' });
  await rows.nth(count).waitFor({ state: 'detached' });
}

/** The count, and every row in its order. */
export async function expectShown(page: Page, expected: readonly CaseRecord[]): Promise<void> {
  await waitForRows(page, expected.length);
  expect(await countShown(page)).toBe(expected.length);
  expect(await shownIds(page)).toEqual(idsOf(failedFirst(expected)));
}
