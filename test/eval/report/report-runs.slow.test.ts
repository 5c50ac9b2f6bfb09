/** Pages of runs that are out of the common: hostile text, repeats, several suites, no case at all, very many. */
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { CaseRecord } from '../../../src/eval/record.js';
import { createRecord, generateRun } from './generated-run.js';
import { CHROMIUM, type ReportBrowser, startReportBrowser } from './open-report.js';
import { countShown, expectShown } from './shown-cases.js';

// A browser on a busy machine takes its time; no test is about it.
jest.setTimeout(60_000);

const inBrowser = CHROMIUM ? describe : describe.skip;
const skipped = CHROMIUM ? '' : ' (skipped: chromium is not installed)';

inBrowser(`reports of other runs${skipped}`, () => {
  let browser: ReportBrowser;
  beforeAll(async () => {
    browser = await startReportBrowser();
  });
  afterAll(() => browser.close());

  it('shows text that looks like markup as text, wherever it stands', async () => {
    const evil = '</script><script>window.harmed = 1</script><img src=x onerror="window.harmed = 1"><!--';
    const calm = createRecord({ number: 2 });
    const [step] = calm.expected.steps ?? [];
    const record: CaseRecord = {
      ...calm,
      id: evil,
      query: evil,
      tags: [evil],
      cause: evil,
      entities: { [evil]: evil },
      history: [{ role: 'user', content: evil }],
      expected: { tools: [evil], steps: [{ ...step, tool: evil, arguments: { [evil]: evil } }] },
      selection: { mode: 'selected', reason: evil, tools: [{ name: evil, via: 'model' }], dropped: [], leftOut: 0 },
      result: {
        kind: 'plan',
        text: evil,
        steps: [{ id: 's1', tool: evil, arguments: { [evil]: `${evil}!` }, purpose: evil, dependsOn: [] }],
      },
      scores: { [evil]: 1 },
      calls: calm.calls.map((call) => ({ ...call, user: evil, answer: evil, error: evil })),
    };
    const file = await browser.write([record], {
      run: { name: evil, settings: { [evil]: evil } },
      promptText: () => evil,
    });
    const { page, noise } = await browser.open(file, { hash: `#case=${encodeURIComponent(evil)}` });
    await page.locator('.case-body').waitFor();
    await page.locator('details.stable summary').first().click();
    await page.locator('details.stable pre', { hasText: 'harmed' }).first().waitFor();
    expect(await page.evaluate('window.harmed')).toBeUndefined();
    expect(await page.locator('.request .query').textContent()).toBe(evil);
    expect(await page.locator('h1').textContent()).toBe(evil);
    expect(await page.title()).toContain(evil);
    expect(await page.locator('img').count()).toBe(0);
    expect(noise).toEqual([]);
  });

  it('lists repeats one by one, links them, and says what is missing of an interrupted run', async () => {
    const records = [...generateRun({ cases: 12, repeats: 3, seed: 5 }).records()].slice(0, 30);
    const file = await browser.write(records, { run: { planned: 36, interrupted: true } });
    const { page } = await browser.open(file, { hash: `#case=${records[4]?.id}&repeat=1` });
    expect(await page.locator('.notice').textContent()).toBe('30 of 36 results are here: the run is not complete.');
    expect(await page.locator('h1 .badge').textContent()).toBe('interrupted');
    const chips = page.locator('.repeats button');
    expect(await chips.count()).toBe(3);
    expect(await chips.nth(1).getAttribute('aria-pressed')).toBe('true');
    await chips.nth(2).click();
    expect(await page.evaluate('location.hash')).toContain('repeat=2');
  });

  it('tells cases of one id in two suites apart', async () => {
    const [one, other] = ['a', 'b'].map((suite, at) => ({ ...createRecord({ number: at }), id: 'same', suite }));
    const file = await browser.write(one && other ? [one, other] : []);
    const { page } = await browser.open(file, { hash: '#case=b/same' });
    expect(await page.locator('.request .query').textContent()).toBe(other?.query);
    await page.evaluate("location.hash = '#case=same'");
    await page.locator('.request .query', { hasText: one?.query ?? '' }).waitFor();
    await page.evaluate("location.hash = '#'");
    await page.locator('select[name="suite"]').selectOption('b');
    expect(await countShown(page)).toBe(1);
  });

  it('opens a run without a single case', async () => {
    const { page, noise } = await browser.open(await browser.write([], { run: { planned: 0 } }));
    expect(await page.locator('#list .empty').isVisible()).toBe(true);
    expect(noise).toEqual([]);
  });

  it('answers a search and a filter over 5,000 cases, with only the rows in sight in the document', async () => {
    const records = [...generateRun({ cases: 5000, seed: 3 }).records()];
    const { page, noise } = await browser.open(await browser.write(records));
    await page.locator('#search').pressSequentially('元村站 汛限');
    await expectShown(
      page,
      records.filter(({ query }) => query.includes('元村站') && query.includes('汛限')),
    );
    await page.locator('#search').fill('');
    await expectShown(page, records);
    await page.locator('[data-state="wrong"]').click();
    await expectShown(
      page,
      records.filter(({ scores }) => scores.right === 0),
    );
    await page.locator('[data-state="wrong"]').click();
    await page.evaluate('scrollTo(0, document.documentElement.scrollHeight)');
    await page.locator(`tr[data-case="${records.at(-1)?.id}"]`).waitFor();
    expect(await page.locator('tr[data-case]').count()).toBeLessThan(100);
    await page.locator(`tr[data-case="${records.at(-1)?.id}"] a`).click();
    await page.locator('.case-body').waitFor();
    expect(await page.locator('.request .query').textContent()).toBe(records.at(-1)?.query);
    expect(noise).toEqual([]);
  });
});
