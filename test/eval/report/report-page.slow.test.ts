/** The page as a reader uses it, in a real browser: what it shows is compared with the records it was made from. */
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { Page } from 'playwright-core';
import type { CaseRecord } from '../../../src/eval/record.js';
import { generateRun } from './generated-run.js';
import { CHROMIUM, type OpenedReport, type ReportBrowser, startReportBrowser } from './open-report.js';
import { expectShown, idsOf, shownIds } from './shown-cases.js';

// A browser on a busy machine takes its time; no test is about it.
jest.setTimeout(60_000);

const inBrowser = CHROMIUM ? describe : describe.skip;
const skipped = CHROMIUM ? '' : ' (skipped: chromium is not installed)';

const generated = generateRun({ cases: 600, seed: 7 });
const RECORDS = [...generated.records()];
const isWrong = ({ scores }: CaseRecord) => scores.right === 0;
const isRight = ({ scores }: CaseRecord) => scores.right === 1;
const tokensOf = ({ usage: { selection, planning } }: CaseRecord) =>
  selection.read + selection.cached + selection.written + planning.read + planning.cached + planning.written;
const first = (test: (record: CaseRecord) => boolean): CaseRecord => {
  const found = RECORDS.find(test);
  if (!found) throw new Error('The generated run holds no such case.');
  return found;
};

inBrowser(`the page of a report${skipped}`, () => {
  let browser: ReportBrowser;
  let file: string;
  let opened: OpenedReport;

  beforeAll(async () => {
    browser = await startReportBrowser();
    file = await browser.write(RECORDS, { promptText: generated.promptText });
    opened = await browser.open(file);
  });
  afterAll(() => browser.close());

  const freshView = async (hash = '#'): Promise<Page> => {
    await opened.page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
    await opened.page.waitForSelector('#charts[aria-busy="false"]', { state: 'attached' });
    return opened.page;
  };

  it('shows each metric with its mean and its interval', async () => {
    const page = await freshView();
    const cells = await page.locator('tr[data-metric="recall"]').locator('th, td').allTextContents();
    expect(cells[0]).toBe('Recall of needed tools');
    expect(cells.slice(2).join(' ')).toMatch(/^0\.\d{3} 0\.\d{3} to 0\.\d{3} \d+$/u);
    await expectShown(page, RECORDS);
  });

  it.each<[string, (record: CaseRecord) => boolean]>([
    ['盘石头', ({ query }) => query.includes('盘石头')],
    ['TAGANG hold', ({ query }) => query.includes('Tagang') && query.includes('hold')],
    ['"hold right now"', ({ query }) => query.includes('hold right now')],
    [
      'query_rain_process',
      ({ expected, selection }) =>
        [...expected.tools, ...(selection?.tools ?? []).map(({ name }) => name)].includes('query_rain_process'),
    ],
    ['hydrology-0042', ({ id }) => id === 'hydrology-0042'],
  ])('finds the cases with %s in request, tools or id', async (text, test) => {
    const page = await freshView();
    await page.locator('#search').fill(text);
    await expectShown(page, RECORDS.filter(test));
    await page.locator('#search').fill('');
  });

  it.each<[string, string, (record: CaseRecord) => boolean]>([
    ['cause', 'wrong-argument', ({ cause }) => cause === 'wrong-argument'],
    ['cause', 'model_timeout', ({ error }) => error?.code === 'model_timeout'],
    ['tag', 'chain', ({ tags }) => tags.includes('chain')],
    ['lang', 'zh', ({ lang }) => lang === 'zh'],
    ['kind', 'plan_invalid', ({ result }) => result?.kind === 'plan_invalid'],
    ['kind', 'selection only', ({ result }) => result === undefined],
    ['mode', 'fallback', ({ selection }) => selection?.mode === 'fallback'],
  ])('filters by %s %s', async (name, value, test) => {
    const page = await freshView();
    const option = page.locator(`select[name="${name}"] option[value="${value}"]`);
    const expected = RECORDS.filter(test);
    expect(await option.textContent()).toContain(`(${expected.length})`);
    await page.locator(`select[name="${name}"]`).selectOption(value);
    await expectShown(page, expected);
  });

  it('filters by outcome, several at once', async () => {
    const page = await freshView();
    await page.locator('[data-state="wrong"]').click();
    await expectShown(page, RECORDS.filter(isWrong));
    await page.locator('[data-state="error"]').click();
    await expectShown(
      page,
      RECORDS.filter((record) => !isRight(record)),
    );
    await page.locator('[data-state="wrong"]').click();
    await expectShown(
      page,
      RECORDS.filter(({ outcome }) => outcome === 'error'),
    );
  });

  it('keeps filters in the address, counts the other choices under them, and clears them', async () => {
    const page = await freshView('#state=wrong&tag=chain&q=盘石头');
    const expected = RECORDS.filter(
      (record) => isWrong(record) && record.tags.includes('chain') && record.query.includes('盘石头'),
    );
    await expectShown(page, expected);
    const cap = expected.filter(({ cause }) => cause === expected[0]?.cause).length;
    expect(await page.locator(`select[name="cause"] option[value="${expected[0]?.cause}"]`).textContent()).toContain(
      `(${cap})`,
    );
    await page.locator('button.plain').click();
    await expectShown(page, RECORDS);
    expect(await page.evaluate('location.hash')).not.toContain('tag');
  });

  it('sorts by a column in both directions, and returns to the order of the run', async () => {
    const page = await freshView();
    const down = [...RECORDS].sort((a, b) => tokensOf(b) - tokensOf(a));
    const head = page.locator('th.tokens button');
    await head.click();
    await expectShown(page, down);
    await head.click();
    expect((await shownIds(page))[0]).toBe(down.at(-1)?.id);
    await head.click();
    await expectShown(page, RECORDS);
  });

  it('says that nothing fits', async () => {
    const page = await freshView('#q=zzzz');
    expect(await page.locator('#list .empty').textContent()).toBe('No case fits these filters.');
  });

  it('draws the charts of the cases in view, and shows the cases of a cause at a click', async () => {
    const page = await freshView('#tag=chain');
    const chain = RECORDS.filter(({ tags }) => tags.includes('chain'));
    const withCause = chain.filter(({ cause }) => cause === 'not-ranked');
    const bar = page.locator('[data-cause="not-ranked"]');
    expect(await bar.textContent()).toContain(`not ranked${withCause.length} `);
    const answered = chain.filter(({ outcome }) => outcome === 'answered');
    const recall = answered.map(({ expected, selection }) => {
      const eight = (selection?.tools ?? []).slice(0, 8).map(({ name }) => name);
      return expected.tools.filter((name) => eight.includes(name)).length / expected.tools.length;
    });
    const mean = recall.reduce((sum, value) => sum + value, 0) / recall.length;
    const chart = page.getByRole('img', { name: /^Recall at k/u });
    expect(await chart.getAttribute('aria-label')).toContain(`8: recall ${mean.toFixed(2)}`);
    expect(await page.getByRole('img', { name: /by tokens of a case/u }).count()).toBe(1);
    const model = answered
      .flatMap(({ selection }) => selection?.tools ?? [])
      .filter(({ via }) => via === 'model').length;
    expect(await page.locator('[data-via="model"]').textContent()).toContain(`of ${model}`);
    await bar.click();
    await expectShown(page, withCause);
  });

  it('draws quality against tokens: the mean score of cases that cost about as much', async () => {
    const page = await freshView('#q=hydrology-000');
    const scored = RECORDS.filter(({ id, outcome, scores }) => {
      return id.startsWith('hydrology-000') && outcome === 'answered' && typeof scores.recall === 'number';
    });
    const mean = scored.reduce((sum, { scores }) => sum + (scores.recall ?? 0), 0) / scored.length;
    const tokens = scored.map(tokensOf);
    const [from, to] = [Math.min(...tokens), Math.max(...tokens)].map((count) => count.toLocaleString('en-GB'));
    const chart = page.getByRole('img', { name: /by tokens of a case/u });
    expect(await chart.getAttribute('aria-label')).toContain(`. ${from} to ${to} tokens: ${mean.toFixed(2)}`);
  });

  it('opens a case with its request, its tools marked, its answer and what the model saw', async () => {
    const record = first(({ cause, lang, expected }) => cause === 'cap' && lang === 'zh' && expected.tools.length > 1);
    const page = await freshView(`#case=${record.id}`);
    const panel = page.locator('#case');
    expect(await panel.locator('.request .query').textContent()).toBe(record.query);
    expect(await panel.locator('.request .query').getAttribute('lang')).toBe('zh');
    const missing = record.expected.tools.at(-1);
    expect(await panel.locator('li[data-mark="missing"]').getAttribute('data-tool')).toBe(missing);
    expect(await panel.locator('ol li[data-mark="extra"]').count()).toBe(
      (record.selection?.tools.length ?? 0) - record.expected.tools.length + 1,
    );
    expect(await panel.locator('.dropped').textContent()).toContain('it was needed');
    const stable = panel.locator('.call[data-stage="selection"] details.stable');
    await stable.locator('summary').click();
    await stable.getByText('You choose tools for a request.').waitFor();
    expect(await panel.locator('.call[data-stage="selection"]').textContent()).toContain(`Request: ${record.query}`);
    for (const { stage, answer } of record.calls) {
      const said = await panel.locator(`.call[data-stage="${stage}"] details:last-child pre`).textContent();
      expect(said?.replace(/\s/gu, '')).toBe(answer.replace(/\s/gu, ''));
    }
    expect(await panel.locator('.part.cost').textContent()).toContain('6,398');
  });

  it('calls each score of a case by its name, and colours it by the direction that is better', async () => {
    const record = first((record) => isRight(record) && record.scores.fallback === 0);
    const page = await freshView(`#case=${record.id}`);
    const rows = page.locator('#case .score-list > div');
    await rows.first().waitFor();
    const names = await rows.locator('dt').allTextContents();
    expect(names).toContain('Tools by required, a case');
    expect(names.filter((name) => /\w\.\w/u.test(name))).toEqual([]);
    const colourOf = (name: string) => rows.filter({ hasText: name }).getAttribute('class');
    expect(await colourOf('Selection failed, full set used')).toBe('good');
    expect(await colourOf('Cases right as a whole')).toBe('good');
    expect(await colourOf('Tools by required, a case')).toBe('none');
  });

  it('draws both plans by levels with the edges that are missing, and compares arguments', async () => {
    const record = first(({ tags, cause }) => tags.includes('rain') && cause === 'missing-step');
    const page = await freshView(`#case=${record.id}`);
    const graph = (side: string) => page.locator(`[data-graph="${side}"]`);
    const statesOf = (side: string, name: string) =>
      graph(side)
        .locator(`[data-${name}]`)
        .evaluateAll(
          (found, key) => found.map((one) => `${one.getAttribute(key)} ${one.getAttribute('data-state')}`),
          `data-${name}`,
        );
    expect(await statesOf('expected', 'step')).toEqual(['s1 hit', 's2 hit', 's3 missing']);
    expect(await statesOf('expected', 'edge')).toEqual(['s1 s2 hit', 's1 s3 missing']);
    expect(await statesOf('got', 'step')).toEqual(['s1 hit', 's2 hit']);
    expect(await statesOf('got', 'edge')).toEqual(['s1 s2 hit']);
    const lengths = "[...document.querySelectorAll('[data-edge]')].map((edge) => edge.getTotalLength())";
    for (const length of await page.evaluate<number[]>(lengths)) expect(length).toBeGreaterThan(20);
    expect(await graph('expected').locator('.field').allTextContents()).toEqual(['stcd', 'stcd']);
    const top = async (step: string) =>
      (await graph('expected').locator(`[data-step="${step}"]`).boundingBox())?.y ?? 0;
    expect(await top('s2')).toBeGreaterThan(await top('s1'));
    expect(await top('s3')).toBe(await top('s2'));
    expect(await page.locator('details[data-pair="missing"]').textContent()).toContain('query_warning_threshold');
  });

  it.each(['wrong-argument', 'wrong-reference'])('marks a %s beside what was expected', async (cause) => {
    const argument = cause === 'wrong-argument' ? 'name' : 'stcd';
    const record = first((one) => one.cause === cause && (one.expected.steps?.length ?? 0) > 1);
    const page = await freshView(`#case=${record.id}`);
    const row = page.locator(`[data-argument="${argument}"][data-verdict="different"]`).first();
    expect(await row.locator('mark').count()).toBeGreaterThan(0);
    expect(await row.textContent()).toContain('differs');
    expect(await page.locator('details[data-pair="hit"]:not([open])').count()).toBeGreaterThanOrEqual(
      record.expected.steps?.length === 2 ? 1 : 2,
    );
  });

  it('shows an error as an error, with its code and message', async () => {
    const record = first(({ outcome }) => outcome === 'error');
    const page = await freshView(`#case=${record.id}`);
    expect(await page.locator('#case .part.error').textContent()).toContain(
      'model_timeout The model did not answer in 30 s.',
    );
    expect(await page.locator('#case').textContent()).toContain('There was no selection.');
  });

  it('says of a case that is not there that it is not', async () => {
    const page = await freshView('#case=unknown');
    expect(await page.locator('#case').textContent()).toContain('holds no case of this id');
  });

  it('opens a case at a click and closes it by Escape and by Back', async () => {
    const page = await freshView();
    const panel = page.locator('#case');
    await page.locator('tr[data-case] a').first().click();
    await panel.locator('.case-body').waitFor();
    expect(await page.evaluate('location.hash')).toContain(`case=${RECORDS[0]?.id}`);
    await page.keyboard.press('Escape');
    expect(await panel.isVisible()).toBe(false);
    await page.locator('tr[data-case] a').nth(1).click();
    await panel.locator('.case-body').waitFor();
    await page.goBack();
    expect(await panel.isVisible()).toBe(false);
  });

  it('walks by j and k through the cases in view, opens by Enter, searches by /', async () => {
    const page = await freshView('#state=wrong');
    const wrong = RECORDS.filter(isWrong);
    const title = page.locator('#case h2');
    await page.locator('body').click({ position: { x: 2, y: 2 } });
    await page.evaluate('document.activeElement.blur()');
    const current = () => page.locator('tr.current').getAttribute('data-case');
    await page.keyboard.press('j');
    const at = idsOf(wrong).indexOf((await current()) ?? '');
    expect(at).toBeGreaterThanOrEqual(0);
    await page.keyboard.press('Enter');
    expect(await title.textContent()).toBe(wrong[at]?.id);
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    expect(await title.textContent()).toBe(wrong[at + 2]?.id);
    await page.keyboard.press('k');
    expect(await title.textContent()).toBe(wrong[at + 1]?.id);
    await page.keyboard.press('/');
    await page.keyboard.type('jk');
    expect(await page.locator('#search').inputValue()).toBe('jk');
    expect(await title.textContent()).toBe(wrong[at + 1]?.id);
  });

  it('prints the first 500 rows and says how many there are', async () => {
    const page = await freshView();
    await page.evaluate("dispatchEvent(new Event('beforeprint'))");
    expect(await page.locator('tr[data-case]').count()).toBe(500);
    expect(await page.locator('.on-paper').textContent()).toBe('The first 500 of 600 results.');
    await page.evaluate("dispatchEvent(new Event('afterprint'))");
    expect(await page.locator('tr[data-case]').count()).toBeLessThan(100);
  });

  it('was quiet all the while: nothing on the console, no request', () => {
    expect(opened.noise).toEqual([]);
  });
});
