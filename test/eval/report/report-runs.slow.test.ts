/** Pages of runs that are out of the common: hostile text, repeats, several suites, no case at all, very many. */
import { expect, it } from 'vitest';
import type { CaseRecord } from '../../../src/eval/record.js';
import { describeInBrowser } from '../../support/in-browser.js';
import { createRecord, generateRun } from './generated-run.js';
import { startReportBrowser } from './open-report.js';
import { countShown, expectShown, failedFirst, shownIds, waitForRows } from './shown-cases.js';

describeInBrowser('reports of other runs', startReportBrowser, (browser) => {
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
        steps: [
          {
            id: 's1',
            tool: evil,
            arguments: { [evil]: `${evil}!` },
            from: { [evil]: 'request' },
            purpose: evil,
            dependsOn: [],
          },
          { id: evil, tool: evil, arguments: {}, purpose: evil, dependsOn: ['s1'] },
        ],
      },
      scores: { [evil]: 1 },
      calls: calm.calls.map((call) => ({ ...call, user: evil, answer: evil, error: evil })),
    };
    const file = await browser().write([record], {
      run: { name: evil, settings: { [evil]: evil } },
      promptText: () => evil,
    });
    const { page, noise } = await browser().open(file, { hash: `#case=${encodeURIComponent(evil)}` });
    await page.locator('.request').waitFor();
    await page.evaluate("for (const one of document.querySelectorAll('.case details')) one.open = true");
    for (const pre of await page.locator('.calls pre').all()) expect(await pre.textContent()).toContain('harmed');
    expect(await page.evaluate('window.harmed')).toBeUndefined();
    expect(await page.locator('.request .query').textContent()).toBe(evil);
    expect(await page.locator('h1').textContent()).toBe(evil);
    expect(await page.title()).toContain(evil);
    expect(await page.locator('img').count()).toBe(0);
    expect(noise).toEqual([]);
  });

  it('lists repeats one by one, each with its own address, and says what is missing of an interrupted run', async () => {
    const records = [...generateRun({ cases: 12, repeats: 3, seed: 5 }).records()].slice(0, 30);
    const file = await browser().write(records, { run: { planned: 36, interrupted: true } });
    const { page } = await browser().open(file, { hash: `#q=${records[4]?.id}` });
    expect(await page.locator('header').textContent()).toContain('30 of 36 results are here: the run is not complete.');
    const names = await page.locator('#list > li summary small').allTextContents();
    expect(names.map((name) => name.split(' · ')[0]).sort()).toEqual(
      ['', ' #2', ' #3'].map((repeat) => `${records[4]?.id}${repeat}`),
    );
    await page.evaluate(`location.hash = '#case=' + encodeURIComponent('${records[4]?.id}#2')`);
    await page.locator('#list > li > details[open] > summary > small', { hasText: '#2' }).waitFor();
  });

  it('tells cases of one id in two suites apart', async () => {
    const [one, other] = ['a', 'b'].map((suite, at) => ({ ...createRecord({ number: at }), id: 'same', suite }));
    const file = await browser().write(one && other ? [one, other] : []);
    const { page } = await browser().open(file, { hash: '#case=b/same' });
    await page.locator('.request').waitFor();
    expect(await page.locator('.request .query').allTextContents()).toEqual([other?.query]);
    await page.evaluate("location.hash = '#case=a/same'");
    await page.locator('.request .query', { hasText: one?.query ?? '' }).waitFor();
    await page.locator('select[name="only"]').selectOption('suite:b');
    expect(await countShown(page)).toBe(1);
  });

  it('opens a run without a single case', async () => {
    const { page, noise } = await browser().open(await browser().write([], { run: { planned: 0 } }));
    expect(await page.locator('[role="status"]').textContent()).toContain('0 of 0 cases');
    expect(noise).toEqual([]);
  });

  it('answers a search and a filter over 5,000 cases, all of them in the document', async () => {
    const records = [...generateRun({ cases: 5000, seed: 3 }).records()];
    const { page, noise } = await browser().open(await browser().write(records));
    await expectShown(page, records);
    await page.locator('input[name="q"]').pressSequentially('元村站 汛限');
    await expectShown(
      page,
      records.filter(({ query }) => query.includes('元村站') && query.includes('汛限')),
    );
    await page.locator('input[name="q"]').fill('');
    await page.locator('[data-verdict="wrong"]').click();
    await expectShown(
      page,
      records.filter(({ scores }) => scores.right === 0),
    );
    await page.locator('[data-verdict="wrong"]').click();
    await expectShown(page, records);
    const last = failedFirst(records).at(-1);
    await page.locator(`[data-case="${last?.id}"] > details > summary`).click();
    await page.locator('.request').waitFor();
    expect(await page.locator('.request .query').textContent()).toBe(last?.query);
    expect(noise).toEqual([]);
  }, 240_000);

  it('leaves rows out of sight to the browser: it lays them out when they come into sight', async () => {
    const records = [...generateRun({ cases: 300, seed: 3 }).records()];
    const { page } = await browser().open(await browser().write(records));
    await expectShown(page, records);
    const laidOut = () =>
      page.evaluate<number>(
        "[...document.querySelectorAll('#list > li > details')].filter((one) => one.checkVisibility({ contentVisibilityAuto: true })).length",
      );
    expect(await laidOut()).toBeLessThan(100);
    await page.evaluate('scrollTo(0, document.documentElement.scrollHeight)');
    const isLastLaidOut = () =>
      page.evaluate<boolean>(
        "document.querySelector('#list > li:last-child > details').checkVisibility({ contentVisibilityAuto: true })",
      );
    while (!(await isLastLaidOut())) await page.waitForTimeout(50);
    expect(await laidOut()).toBeLessThan(100);
  });
});

describeInBrowser('the report of two runs', startReportBrowser, (browser) => {
  /** Each run has prompts of its own. */
  const [before, now] = [5, 6].map((seed) =>
    [...generateRun({ cases: 60, seed }).records()].map((record) => ({
      ...record,
      calls: record.calls.map((call) => ({ ...call, system: `${call.system}-${seed}` })),
    })),
  );
  const isRight = (record: CaseRecord | undefined) => record?.scores.right === 1;
  const changeOf = (record: CaseRecord) => {
    const was = isRight(before?.find(({ id }) => id === record.id));
    if (isRight(record)) return was ? 'kept' : 'won';
    return was ? 'lost' : 'failed';
  };
  const difference = { mean: -0.1, low: -0.15, high: -0.05, higher: 0, lower: 6, equal: 54, count: 60 };
  const open = async (hash = '') => {
    const file = await browser().write(now ?? [], {
      promptText: (hash) => (hash.endsWith('-6') ? 'You plan.\nAnswer briefly.' : undefined),
      before: {
        records: before ?? [],
        promptText: (hash) => (hash.endsWith('-5') ? 'You plan.\nAnswer at length.' : undefined),
        comparison: {
          settings: ['options.maxTools: 8 there, 5 here'],
          metrics: [
            {
              ...{ name: 'right', label: 'Cases right as a whole', group: 'selection', unit: 'fraction' },
              ...{ better: 'higher', first: 0.9, second: 0.8, difference },
            },
          ],
        },
      },
    });
    return browser().open(file, { hash });
  };

  it('begins with what was lost and won, and what is worse beyond chance', async () => {
    const { page, noise } = await open();
    const count = (change: string) => (now ?? []).filter((record) => changeOf(record) === change).length;
    expect(await page.locator('h2').first().textContent()).toBe(
      `${count('lost')} lost, ${count('won')} won, of 60 cases`,
    );
    const tile = page.locator('.tile');
    expect((await tile.textContent())?.replace(/\s+/gu, ' ')).toContain(
      '0.900 → 0.800 95 %: -0.150 to -0.050 · -0.100',
    );
    expect(await tile.getAttribute('class')).toContain('wrong');
    await page.getByText('Settings and prompts that differ').click();
    expect(await page.getByText('options.maxTools: 8 there, 5 here').isVisible()).toBe(true);
    for (const change of ['lost', 'won', 'failed', 'kept']) {
      await page.evaluate(`location.hash = '#verdict=${change}'`);
      const ids = (now ?? []).filter((record) => changeOf(record) === change).map(({ id }) => id);
      await waitForRows(page, ids.length);
      expect(await shownIds(page)).toEqual(ids);
    }
    expect(noise).toEqual([]);
  });

  it('opens a case with both plans and both answers, and the difference of the prompts', async () => {
    const record = now?.find((one) => changeOf(one) === 'lost' && one.outcome === 'answered');
    const { page, noise } = await open(`#case=${record?.id}`);
    const row = page.locator(`[data-case="${record?.id}"]`);
    await row.locator('.request').waitFor();
    expect(await row.locator('[data-graph]').count()).toBe(3);
    expect(await row.locator('.arguments h4').allTextContents()).toEqual(['First run', 'Second run']);
    const stable = row.locator('article[data-stage="selection"] details').first();
    expect(await stable.locator('del').textContent()).toContain('− Answer at length.');
    expect(await stable.locator('ins').textContent()).toContain('+ Answer briefly.');
    expect(await stable.textContent()).toContain('differs');
    const asked = row.locator('article[data-stage="selection"] details', { hasText: 'Part of this request' });
    expect(await asked.locator('pre').textContent()).toBe(`Request: ${record?.query}`);
    expect(noise).toEqual([]);
  });

  it('lists a case that only one run has', async () => {
    const file = await browser().write(now?.slice(0, 3) ?? [], {
      before: { records: before?.slice(1, 4) ?? [], comparison: { metrics: [], settings: [] } },
    });
    const { page } = await browser().open(file, { hash: '#verdict=single' });
    expect((await shownIds(page)).sort()).toEqual([now?.[0]?.id, before?.[3]?.id]);
  });
});
