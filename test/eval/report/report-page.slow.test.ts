/** The page as a reader uses it, in a real browser: what it shows is compared with the records it was made from. */
import type { Page } from 'playwright-core';
import { beforeAll, expect, it } from 'vitest';
import type { CaseRecord } from '../../../src/eval/record.js';
import { describeInBrowser } from '../../support/in-browser.js';
import { describeRun } from './describe-run.js';
import { generateRun } from './generated-run.js';
import { type OpenedReport, startReportBrowser } from './open-report.js';
import { expectShown, failedFirst, idsOf, shownIds, waitForRows } from './shown-cases.js';

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

describeInBrowser('the page of a report', startReportBrowser, (browser) => {
  let file: string;
  let opened: OpenedReport;

  beforeAll(async () => {
    file = await browser().write(RECORDS, { promptText: generated.promptText });
    opened = await browser().open(file);
  });
  const freshView = async (hash = '#'): Promise<Page> => {
    await opened.page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
    return opened.page;
  };
  const openCase = async ({ id }: CaseRecord) => {
    const page = await freshView(`#case=${id}`);
    const row = page.locator(`[data-case="${id}"]`);
    await row.locator('.request').waitFor();
    return row;
  };

  it('begins with what failed: how many, the primary metrics with their intervals, the causes, then the cases', async () => {
    const page = await freshView();
    const failed = RECORDS.filter((record) => !isRight(record)).length;
    expect(await page.locator('h2').first().textContent()).toBe(`${failed} of 600 results failed`);
    const tiles = page.locator('.tile');
    expect(await tiles.evaluateAll((all) => all.map((one) => one.getAttribute('data-metric')))).toEqual([
      ...['right', 'allNeeded', 'recall@8', 'abstention', 'nodeF1', 'edgeF1', 'argumentValueF1', 'tokens.read'],
    ]);
    expect(await tiles.nth(2).textContent()).toMatch(
      /Recall at 8\s*0\.\d{3}\s*95 %: 0\.\d{3} to 0\.\d{3} · \d+ cases/u,
    );
    const tops = await page
      .locator('.tile, .causes, #list')
      .evaluateAll((parts) => parts.map((part) => part.getBoundingClientRect().top));
    expect(tops).toEqual([...tops].sort((one, other) => one - other));
    await expectShown(page, RECORDS);
  });

  it('takes the metrics that the run marks as primary', async () => {
    const marked = ['top1', 'kind'];
    const metrics = describeRun(RECORDS.slice(0, 20)).metrics.map((one) => ({
      ...one,
      primary: marked.includes(one.name),
    }));
    const { page } = await browser().open(await browser().write(RECORDS.slice(0, 20), { run: { metrics } }));
    const tiles = page.locator('.tile');
    expect(await tiles.evaluateAll((all) => all.map((one) => one.getAttribute('data-metric')))).toEqual(marked);
    await page.context().close();
  });

  it('folds all metrics away', async () => {
    const page = await freshView();
    const row = page.locator('tr[data-metric="recall"]');
    expect(await row.isVisible()).toBe(false);
    await page.getByText(/^All \d+ metrics$/u).click();
    expect(await row.textContent()).toMatch(/Recall of needed tools\s*0\.\d{3}\s*0\.\d{3} to 0\.\d{3}\s*\d+ cases/u);
    await page.getByText(/^All \d+ metrics$/u).click();
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
    await page.locator('input[name="q"]').fill(text);
    await expectShown(page, RECORDS.filter(test));
    await page.locator('input[name="q"]').fill('');
  });

  it.each<[string, string, (record: CaseRecord) => boolean]>([
    ['tags', 'chain', ({ tags }) => tags.includes('chain')],
    ['lang', 'zh', ({ lang }) => lang === 'zh'],
    ['kind', 'plan_invalid', ({ result }) => result?.kind === 'plan_invalid'],
    ['mode', 'fallback', ({ selection }) => selection?.mode === 'fallback'],
  ])('narrows the list to %s %s', async (name, value, test) => {
    const page = await freshView();
    const option = page.locator(`select[name="only"] option[value="${name}:${value}"]`);
    const expected = RECORDS.filter(test);
    expect(await option.textContent()).toContain(`(${expected.length})`);
    await page.locator('select[name="only"]').selectOption(`${name}:${value}`);
    await expectShown(page, expected);
  });

  it.each(['wrong-argument', 'model_timeout'])(
    'shows the cases of the cause %s at a click, and all at the next',
    async (cause) => {
      const page = await freshView();
      const expected = RECORDS.filter((record) => cause === (record.error?.code ?? record.cause));
      const button = page.locator(`[data-cause="${cause}"]`);
      expect((await button.locator('> :last-child').textContent())?.trim()).toBe(String(expected.length));
      await button.click();
      await expectShown(page, expected);
      expect(await button.getAttribute('aria-pressed')).toBe('true');
      await button.click();
      await expectShown(page, RECORDS);
    },
  );

  it('filters by outcome, several at once', async () => {
    const page = await freshView();
    await page.locator('[data-verdict="wrong"]').click();
    await expectShown(page, RECORDS.filter(isWrong));
    await page.locator('[data-verdict="error"]').click();
    await expectShown(
      page,
      RECORDS.filter((record) => !isRight(record)),
    );
    await page.locator('[data-verdict="wrong"]').click();
    await expectShown(
      page,
      RECORDS.filter(({ outcome }) => outcome === 'error'),
    );
  });

  it('keeps the filters in the address, counts the causes under them, and clears them', async () => {
    const page = await freshView('#verdict=wrong&only=tags:chain&q=盘石头');
    const expected = RECORDS.filter(
      (record) => isWrong(record) && record.tags.includes('chain') && record.query.includes('盘石头'),
    );
    await expectShown(page, expected);
    const cause = expected[0]?.cause;
    const count = expected.filter((record) => record.cause === cause).length;
    expect((await page.locator(`[data-cause="${cause}"] > :last-child`).textContent())?.trim()).toBe(String(count));
    expect(await page.locator('input[name="q"]').inputValue()).toBe('盘石头');
    expect(await page.locator('select[name="only"]').inputValue()).toBe('tags:chain');
    await page.locator('[data-clear]').click();
    await expectShown(page, RECORDS);
    expect(await page.evaluate('location.hash')).not.toContain('tags');
    expect(await page.locator('select[name="only"]').inputValue()).toBe('');
  });

  it.each<[string, readonly CaseRecord[]]>([
    ['tokens', [...RECORDS].sort((one, other) => tokensOf(other) - tokensOf(one))],
    ['time', [...RECORDS].sort((one, other) => other.milliseconds.total - one.milliseconds.total)],
    ['run', RECORDS],
  ])('orders the list by %s', async (order, expected) => {
    const page = await freshView();
    await page.locator('select[name="order"]').selectOption(order);
    await waitForRows(page, RECORDS.length);
    expect(await shownIds(page)).toEqual(idsOf(expected));
  });

  it('says that nothing fits, and that a case is not there', async () => {
    const page = await freshView('#q=zzzz');
    expect(await page.locator('[role="status"]').textContent()).toContain('0 of 600 cases: none fits these filters.');
    await freshView('#case=unknown');
    expect(await page.locator('[role="status"]').textContent()).toContain('This report holds no case unknown.');
  });

  it('opens a case with its request, its tools marked, its answer and what the model saw', async () => {
    const record = first(({ cause, lang, expected }) => cause === 'cap' && lang === 'zh' && expected.tools.length > 1);
    const row = await openCase(record);
    expect(await row.locator('.request .query').textContent()).toBe(record.query);
    expect(await row.locator('.request .query').getAttribute('lang')).toBe('zh');
    expect(await row.locator('li[data-mark="missing"]').getAttribute('data-tool')).toBe(record.expected.tools.at(-1));
    expect(await row.locator('li[data-mark="extra"]').count()).toBe(
      (record.selection?.tools.length ?? 0) - record.expected.tools.length + 1,
    );
    expect(await row.locator('.tools').textContent()).toContain('which was needed');
    await row.locator('.calls > summary').click();
    const call = (stage: string) => row.locator(`article[data-stage="${stage}"]`);
    expect(await call('selection').locator('pre').first().textContent()).toContain('You choose tools for a request.');
    expect(await call('selection').textContent()).toContain(`Request: ${record.query}`);
    for (const { stage, answer } of record.calls) {
      const said = await call(stage).locator('details:last-child pre').textContent();
      expect(said?.replace(/\s/gu, '')).toBe(answer.replace(/\s/gu, ''));
    }
    await row.locator('.scores > summary').click();
    expect(await row.locator('.scores').textContent()).toContain('6,398');
    const names = await row.locator('.scores tbody th').allTextContents();
    expect(names).toContain('Recall of needed tools');
    expect(names.filter((name) => /\w\.\w/u.test(name))).toEqual([]);
  });

  it('shows where each argument came from, and marks in the request the words that were taken', async () => {
    const record = first((one) => isRight(one) && one.tags.includes('rain'));
    const row = await openCase(record);
    const sources = await row
      .locator('[data-argument]')
      .evaluateAll((all) =>
        all.map((one) => `${one.getAttribute('data-argument')}: ${one.querySelector('[data-from]')?.textContent}`),
      );
    expect(sources).toEqual([
      ...[
        'name: from the request',
        'stcd: from step s1',
        'hours: from worked out from the request',
        'stcd: from step s1',
      ],
    ]);
    const name = record.result?.steps?.[0]?.arguments.name;
    expect(await row.locator('.request mark').allTextContents()).toEqual([name]);
  });

  it('draws both plans by levels with the edges that are missing, and compares arguments', async () => {
    const record = first(({ tags, cause }) => tags.includes('rain') && cause === 'missing-step');
    const row = await openCase(record);
    const { page } = opened;
    const graph = (side: string) => row.locator(`[data-graph="${side}"]`);
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
    const lengths = await page.evaluate<number[]>(
      "[...document.querySelectorAll('[data-edge] path')].map((edge) => edge.getTotalLength())",
    );
    expect(lengths.length).toBeGreaterThan(2);
    for (const length of lengths) expect(length).toBeGreaterThan(20);
    expect(await graph('expected').locator('[data-edge]').allTextContents()).toEqual(
      expect.arrayContaining([expect.stringContaining('stcd')]),
    );
    const top = async (step: string) =>
      (await graph('expected').locator(`[data-step="${step}"]`).boundingBox())?.y ?? 0;
    expect(await top('s2')).toBeGreaterThan(await top('s1'));
    expect(await top('s3')).toBe(await top('s2'));
    expect(await row.locator('[data-pair="missing"]').textContent()).toContain('query_warning_threshold');
  });

  it.each(['wrong-argument', 'wrong-reference'])('marks a %s beside what was expected', async (cause) => {
    const argument = cause === 'wrong-argument' ? 'name' : 'stcd';
    const row = await openCase(first((one) => one.cause === cause && (one.expected.steps?.length ?? 0) > 1));
    const line = row.locator(`[data-argument="${argument}"][data-verdict="different"]`).first();
    expect(await line.locator('[data-side="got"] mark').count()).toBeGreaterThan(0);
    expect(await line.locator('[data-side="expected"]').isVisible()).toBe(true);
    expect(await line.textContent()).toContain('differs');
  });

  it('shows an error as an error, with its code and message', async () => {
    const row = await openCase(first(({ outcome }) => outcome === 'error'));
    expect((await row.locator('.request .error').textContent())?.replace(/\s+/gu, ' ')).toContain(
      'model_timeout The model did not answer in 30 s.',
    );
    expect(await row.textContent()).toContain('There was no selection.');
  });

  it('opens and closes cases by the keyboard alone, and leaves the others open', async () => {
    const { page } = await browser().open(file, { hash: '#verdict=wrong' });
    const wrong = idsOf(failedFirst(RECORDS.filter(isWrong)));
    const row = (at: number) => page.locator(`[data-case="${wrong[at]}"]`);
    await row(0).locator('summary').first().focus();
    for (const key of ['ArrowDown', 'ArrowDown', 'ArrowUp', 'Enter']) await page.keyboard.press(key);
    await row(1).locator('.request').waitFor();
    expect(await page.evaluate('location.hash')).toContain(`case=${wrong[1]}`);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Space');
    await row(2).locator('.request').waitFor();
    await page.keyboard.press('Space');
    expect(await row(2).locator('.request').isVisible()).toBe(false);
    expect(await row(1).locator('.request').isVisible()).toBe(true);
  });

  it('was quiet all the while: nothing on the console, no request', () => {
    expect(opened.noise).toEqual([]);
  });
});
