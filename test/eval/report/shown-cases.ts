/** Which cases the list shows, compared with the records that it should. */
import { expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import type { CaseRecord } from '../../../src/eval/record.js';

/** What a window of any usual height shows, with some to spare. */
const MOST_ROWS = 100;

export const idsOf = (records: readonly CaseRecord[]) => records.map(({ id }) => id);

export const shownIds = (page: Page) =>
  page.locator('tr[data-case]').evaluateAll((rows) => rows.map((row) => row.getAttribute('data-case')));
export const countShown = async (page: Page) =>
  Number(((await page.locator('.shown').textContent()) ?? '').replaceAll(',', '').match(/\d+/u)?.[0]);

/** The count, and the rows in the document in their order: those in sight and no more, however many cases there are. */
export async function expectShown(page: Page, expected: readonly CaseRecord[]): Promise<void> {
  expect(await countShown(page)).toBe(expected.length);
  const ids = await shownIds(page);
  expect(ids.length).toBeGreaterThan(0);
  expect(ids.length).toBeLessThan(MOST_ROWS);
  expect(ids).toEqual(idsOf(expected).slice(0, ids.length));
}
