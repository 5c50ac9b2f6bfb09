/** The page Approvals in a real browser: what waits is shown as it will run, and a person decides who has proven to be one. */
import { createServer } from 'node:http';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { FIND_FAINT_TEXT, findByAxe } from '../../support/browser.js';
import { describeInBrowser } from '../../support/in-browser.js';
import { type AgentServerOptions, OPERATOR_TOKEN } from '../http/agents/setup.js';
import { closeAtOnce } from '../http/setup.js';
import { isTooWide, startConsoleBrowser } from './open-console.js';
import { MARKUP, startConsole } from './setup.js';

const SIGNED_IN = { token: OPERATOR_TOKEN, name: 'olga' };

/** A server with a session of ann in which files can be deleted, where that is approved. */
async function startWaiting(options: AgentServerOptions = {}) {
  const server = await startConsole(options);
  const { body } = await server.ask('POST /v1/sessions', {}, { user: 'ann' });
  await server.ask(`POST /v1/sessions/${body.id}/enable`, { names: ['file_delete'] }, { user: 'ann' });
  const call = async (path: string) => {
    const call = { tool: 'file_delete', arguments: { path } };
    return (await server.ask(`POST /v1/sessions/${body.id}/call`, call, { user: 'ann' })).body;
  };
  const states = async () =>
    (await server.ask('GET /v1/approvals')).body.approvals.map((one: { state: string }) => one.state);
  return { ...server, session: String(body.id), call, states };
}

const text = async (page: Page, selector: string) =>
  ((await page.locator(selector).first().textContent()) ?? '').replace(/\s+/gu, ' ').trim();
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

describeInBrowser('the page Approvals', startConsoleBrowser, (browser) => {
  it('asks who decides, then approves once what is shown, and the call runs', async () => {
    const { url, call, states, runs } = await startWaiting();
    await call('old.txt');
    const { page, noise } = await browser().open(`${url}/#approvals`);
    await page.locator('[data-approval]').waitFor();
    await expect.poll(() => page.title(), { timeout: 10_000 }).toBe('(1) Approvals · Winnow');
    expect(await text(page, '[data-waiting]')).toBe('1 waiting');
    expect(await text(page, '[data-approval]')).toMatch(
      /^file_delete high risk Asked by ann\. Session .* file_delete has high risk\. Runs: .* Arguments path old\.txt Expires in \d+ min/u,
    );
    await button(page, 'Approve once').click();
    await page
      .locator('[data-failure="unauthenticated"]', { hasText: "the operator's token of this machine" })
      .waitFor();
    expect(await states()).toEqual(['pending']);

    await page.locator('[data-failure] button').click();
    expect(await page.evaluate('document.activeElement.name')).toBe('token');
    await page.keyboard.type(OPERATOR_TOKEN);
    await page.locator('[name="name"]').fill('olga');
    await page.keyboard.press('Enter');
    await page.getByText('Signed in: olga').waitFor();
    await page.locator('[data-approval] [name="reason"]').fill('it is old');
    await button(page, 'Approve once').click();
    await page.getByRole('status').filter({ hasText: 'file_delete: granted, by olga.' }).waitFor();
    expect(await text(page, '[data-expires]')).toBe('file_delete: granted, by olga.');
    await expect.poll(() => page.title(), { timeout: 10_000 }).toBe('Approvals · Winnow');
    expect(await call('old.txt')).toMatchObject({ ok: true });
    expect(runs).toEqual(['file_delete old.txt']);

    await page.locator('[data-state="used"]').click();
    await page.locator('[data-approval]', { hasText: 'it is old' }).waitFor();
    expect(page.url()).toContain('state=used');
    expect(await page.content()).not.toContain(OPERATOR_TOKEN);
    // The decision that had no proof.
    expect(noise).toEqual([expect.stringContaining('401')]);
  });

  it.each([
    ['a link', (url: string) => `location = '${url}/#approvals'`],
    ['the way back', () => 'history.back()'],
  ])('takes no click that a page of another place has made the operator begin, by %s', async (_, leave) => {
    const { url, call, states } = await startWaiting();
    await call('old.txt');
    const { page } = await browser().open(`${url}/#approvals`, SIGNED_IN);
    const { x = 0, y = 0 } = (await button(page, 'Approve once').boundingBox()) ?? {};
    const onClick = `<h1>Click fast!</h1><script>addEventListener('click', () => { ${leave(url)} })</script>`;
    const other = createServer((_, answer) => answer.setHeader('content-type', 'text/html').end(onClick));
    await new Promise<void>((done) => other.listen(0, '127.0.0.2', done));
    try {
      await page.goto(`http://127.0.0.2:${Object(other.address()).port}/`);
      for (let clicks = 0; clicks < 8; clicks++) {
        await page.mouse.click(x + 9, y + 9);
        await page.waitForTimeout(200);
      }
      expect(new URL(page.url()).origin).toBe(url);
      expect(await states()).toEqual(['pending']);
      const open = page.getByRole('link', { name: 'Open the console' });
      if (await open.isVisible()) await open.click();
      await page.locator('[aria-current="page"]', { hasText: 'Try' }).waitFor();
    } finally {
      other.close();
    }
  });

  it('shows what differs from last time, and refuses with a reason', async () => {
    const { url, ask, call, states } = await startWaiting();
    const { approval } = await call('old.txt');
    await ask(`POST /v1/approvals/${approval}/grant`, { by: { user: 'olga' } });
    await call('new.txt');
    const { page, noise } = await browser().open(`${url}/#approvals`, SIGNED_IN);
    await page.locator('[data-approval]').waitFor();
    expect(await text(page, '[data-differs]')).toBe('Last time: oldnew.txt');
    expect(await text(page, '[data-differs] del')).toBe('old');
    await page.locator('[data-approval] [name="reason"]').fill('keep it');
    await button(page, 'Refuse').click();
    await page.getByRole('status').filter({ hasText: 'refused, by olga' }).waitFor();
    expect(await states()).toEqual(['refused', 'granted']);
    expect(await call('new.txt')).toMatchObject({ code: 'approval_refused' });
    expect(noise).toEqual([]);
  });

  it('approves with changed arguments, and says what is wrong with them', async () => {
    const { url, call, runs } = await startWaiting();
    await call('/etc/passwd');
    const { page, noise } = await browser().open(`${url}/#approvals`, SIGNED_IN);
    await button(page, 'Edit').click();
    const edited = page.locator('[name="arguments"]');
    expect(JSON.parse(await edited.inputValue())).toEqual({ path: '/etc/passwd' });
    for (const [written, problem] of [
      ['{"path":', 'no JSON object'],
      ['{"path": 7}', 'path'],
    ] as const) {
      await edited.fill(written);
      await button(page, 'Approve with these').click();
      await page.getByRole('alert').filter({ hasText: problem }).waitFor();
    }
    await edited.fill('{"path": "mine.txt"}');
    await button(page, 'Approve with these').click();
    await page.getByRole('status').filter({ hasText: 'granted' }).waitFor();
    expect(await call('/etc/passwd')).toMatchObject({ code: 'approval_edited' });
    expect(await call('mine.txt')).toMatchObject({ ok: true });
    expect(runs).toEqual(['file_delete mine.txt']);
    expect(noise).toEqual([]);
  });

  it('lets a click meet no other approval than the one that it was meant for', async () => {
    const { url, ask, call, states } = await startWaiting();
    const ids = [(await call('first.txt')).approval, (await call('second.txt')).approval];
    const { page, noise } = await browser().open(`${url}/#approvals`, SIGNED_IN);
    const cards = () =>
      page.locator('[data-approval]').evaluateAll((all) => all.map((one) => one.getAttribute('data-approval')));
    const placeOf = (id: string) => page.locator(`[data-approval="${id}"]`).boundingBox();
    await page.locator(`[data-approval="${ids[1]}"]`).waitFor();
    const place = await placeOf(ids[1]);
    await page.locator(`[data-approval="${ids[1]}"] [name="reason"]`).fill('of the second');
    await page.locator(`[data-approval="${ids[0]}"] [value="once"]`).dblclick();
    await page.locator(`[data-approval="${ids[0]}"] [data-expires]`, { hasText: 'granted, by olga' }).waitFor();
    expect(await states()).toEqual(['pending', 'granted']);
    // One comes, and one is decided elsewhere: each card stays where it is, with what was typed into it.
    ids.push((await call('third.txt')).approval);
    await page.locator(`[data-approval="${ids[2]}"]`).waitFor();
    await ask(`POST /v1/approvals/${ids[1]}/refuse`, { by: { user: 'bob' } });
    await page.locator(`[data-approval="${ids[1]}"] [value="once"]:disabled`).waitFor();
    expect(await cards()).toEqual(ids);
    expect(await placeOf(ids[1])).toEqual(place);
    expect(await page.locator(`[data-approval="${ids[1]}"] [name="reason"]`).inputValue()).toBe('of the second');
    expect(await text(page, `[data-approval="${ids[1]}"] [data-expires]`)).toBe('It waits no more.');
    await page.locator('[data-state="pending"]').click();
    await page.locator(`[data-approval="${ids[0]}"]`).waitFor({ state: 'detached' });
    await page.locator(`[data-approval="${ids[2]}"]`).waitFor();
    expect(await cards()).toEqual([ids[2]]);
    expect(noise).toEqual([]);
  });

  it('shows no approval of another state than the one that was chosen last', async () => {
    const { url, call, ask } = await startWaiting();
    await call('a.txt');
    const { body } = await ask('GET /v1/approvals');
    await ask(`POST /v1/approvals/${body.approvals[0].id}/refuse`, { by: { user: 'olga' } });
    const { page, noise } = await browser().open(`${url}/#approvals`, SIGNED_IN);
    let free = () => {};
    const held = new Promise<void>((resolve) => {
      free = resolve;
    });
    await page.route(/state=refused/u, async (route) => {
      await held;
      await route.continue();
    });
    await page.locator('[data-state="refused"]').click();
    await page.locator('[data-state="pending"]').click();
    const late = page.waitForResponse(/state=refused/u);
    free();
    await (await late).finished();
    await page.waitForResponse(/state=pending/u);
    expect(await page.locator('[data-approval]').count()).toBe(0);
    expect(noise).toEqual([]);
  });

  it('shows what nobody would see in an argument, and leaves it in there where it is edited', async () => {
    const { url, call } = await startWaiting();
    await call('song\u202e3pm.exe');
    const { page, noise } = await browser().open(`${url}/#approvals`, SIGNED_IN);
    await page.locator('[data-argument="path"]', { hasText: 'song\\u{202e}3pm.exe' }).waitFor();
    await button(page, 'Edit').click();
    const written = await page.locator('[name="arguments"]').inputValue();
    expect(written).toContain('song\\u202e3pm.exe');
    expect(JSON.parse(written)).toEqual({ path: 'song\u202e3pm.exe' });
    expect(noise).toEqual([]);
  });

  it.each([
    [true, 'granted, by olga'],
    [false, 'The policy allows grants for one call only.'],
  ])('approves for the session where the policy allows it: %s', async (sessionGrants, told) => {
    const { url, call } = await startWaiting({ policy: { approvals: { sessionGrants } } });
    await call('a.txt');
    const { page } = await browser().open(`${url}/#approvals`, SIGNED_IN);
    await button(page, 'Approve for the session').click();
    await page.locator('[role="status"], [role="alert"]').filter({ hasText: told }).waitFor();
    expect(await call('a.txt')).toMatchObject({ ok: sessionGrants });
    expect(await call('a.txt')).toMatchObject({ ok: sessionGrants });
  });

  it('shows a plan as a whole with what it does not cover, to be approved as it is, for one run', async () => {
    const { url, ask, session, runs } = await startWaiting();
    const as = { user: 'ann' };
    await ask(`POST /v1/sessions/${session}/enable`, { names: ['file_list'] }, as);
    const plan = {
      goal: MARKUP,
      inputs: { file: {} },
      steps: [
        { id: 's1', tool: 'file_list', arguments: {} },
        { id: 's2', tool: 'file_delete', arguments: { path: '${input.file}' }, purpose: MARKUP, dependsOn: ['s1'] },
        {
          ...{ id: 's3', tool: 'file_delete', arguments: { path: '${s1.path}' }, from: { path: 'step' } },
          ...{ dependsOn: ['s2'], when: { value: '${s1.path}', is: 'filled' } },
        },
      ],
    };
    await ask('POST /v1/kept-plans', { name: 'morning', plan }, as);
    const inputs = { file: `${MARKUP}.txt` };
    const asked = await ask('POST /v1/kept-plans/morning/approval', { session, inputs }, as);
    for (const [colorScheme, width] of [
      ['light', 1280],
      ['dark', 390],
    ] as const) {
      const view = { colorScheme, viewport: { width, height: 800 } } as const;
      const { page, noise } = await browser().open(`${url}/#approvals`, view);
      await page.locator('[data-plan-step="s3"]').waitFor();
      const found = [await page.evaluate(FIND_FAINT_TEXT), await findByAxe(page), await isTooWide(page), noise];
      expect(found).toEqual([[], [], false, []]);
      await page.context().close();
    }
    const { page, noise } = await browser().open(`${url}/#approvals`, SIGNED_IN);
    await page.locator('[data-plan-step="s3"]').waitFor();
    expect(await text(page, '[data-plan-step="s2"]')).toMatch(
      /^s2 file_delete high risk .* Runs: .* path <img .*\.txt$/u,
    );
    expect(await text(page, '[data-plan-step="s3"]')).toMatch(
      /^s3 file_delete high risk asks by itself when its values are known Only if \$\{s1\.path\} is not empty Runs: .*path \$\{s1\.path\} from an earlier step$/u,
    );
    expect(await page.locator('[data-asks-later]').count()).toBe(1);
    expect(await page.locator('main img, main script').count()).toBe(0);
    expect(await page.locator('[data-approval] button').allTextContents()).toEqual(['Approve once', 'Refuse']);
    await button(page, 'Approve once').click();
    await page.getByRole('status').filter({ hasText: 'plan morning: granted, by olga.' }).waitFor();
    const run = { session, kept: { name: 'morning' }, inputs, approval: asked.body.approval.id };
    expect((await ask('POST /v1/plans/run', run, as)).body.state).toBe('paused');
    expect(runs).toEqual(['file_list', `file_delete ${MARKUP}.txt`]);
    expect(noise).toEqual([]);
  });

  it('sees what comes without being asked to, and that the server is dead', async () => {
    const { url, app, call } = await startWaiting();
    const { page } = await browser().open(`${url}/#try`, SIGNED_IN);
    expect(await page.locator('[data-waiting]').count()).toBe(0);
    await call(MARKUP);
    await page.locator('[data-waiting="1"]').waitFor();
    await page.getByRole('link', { name: 'Approvals' }).click();
    await page.locator('[data-approval]').waitFor();
    expect(await page.locator('[name="reason"]').inputValue()).toBe('');
    expect(await text(page, '[data-argument="path"]')).toBe(`path ${MARKUP}`);
    expect(await page.locator('main img, main script').count()).toBe(0);
    await closeAtOnce(app);
    await page.locator('[data-failure="unreachable"]').first().waitFor();
  });

  it.each([
    ['light', 1280],
    ['dark', 390],
  ] as const)('has no findings and fits, in %s at %i pixels', async (colorScheme, width) => {
    const { url, ask, call } = await startWaiting();
    const { approval } = await call('old.txt');
    await ask(`POST /v1/approvals/${approval}/grant`, { by: { user: 'olga' } });
    await call(`${'a-long-name-'.repeat(30)}.txt`);
    const view = { colorScheme, viewport: { width, height: 800 } } as const;
    const { page, noise } = await browser().open(`${url}/#approvals`, view);
    await button(page, 'Edit').click();
    await page.locator('#proof summary').click();
    expect([await page.evaluate(FIND_FAINT_TEXT), await findByAxe(page), await isTooWide(page)]).toEqual([
      [],
      [],
      false,
    ]);
    expect(noise).toEqual([]);
  });
});
