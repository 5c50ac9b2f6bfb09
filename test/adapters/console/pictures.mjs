/**
 * Takes the pictures of the pages: a plan in Try, and an approval that waits. The model is scripted, all else is real.
 * `node --import ./test/support/typescript-loader.mjs test/adapters/console/pictures.mjs FOLDER [WIDTH]`
 */
import { join } from 'node:path';
import { readConsole } from '../../../src/adapters/console/console.ts';
import { createServer } from '../../../src/adapters/http/app.ts';
import { createAuthenticate } from '../../../src/adapters/http/auth/authenticate.ts';
import { createAgents } from '../../../src/agents/agents.ts';
import { createPolicy } from '../../../src/agents/policy/policy.ts';
import { fixedPolicy } from '../../../src/agents/policy/policy-file.ts';
import { openStore } from '../../../src/agents/store/open-store.ts';
import { loadCatalog } from '../../../src/core/catalog/load.ts';
import { createModel } from '../../../src/core/model/create-model.ts';
import { createPlanner } from '../../../src/core/planner.ts';
import { startChromium } from '../../support/browser.ts';
import { startScriptedServer } from '../../support/scripted-server.ts';
import { answerJson } from '../../support/server-behaviours.ts';

const [folder = '.', width = '1280'] = process.argv.slice(2);
const MESSAGE = 'Until when is the Rijksmuseum open, and how do I get there by tram from Sloterdijk station?';
const TOKEN = 'the-token-of-the-operator';

const { catalog } = await loadCatalog({ sources: ['fixtures/catalogs/assistant.json'] });
const script = await startScriptedServer([
  answerJson({
    selected_tools: ['maps.placeDetails', 'maps.directions', 'maps.findPlace'],
    reason: 'opening hours of a place, and the way to it',
  }),
  answerJson({
    kind: 'plan',
    steps: [
      { id: 's1', tool: 'maps.findPlace', arguments: { query: 'Rijksmuseum' }, purpose: 'find the museum' },
      { id: 's2', tool: 'maps.placeDetails', arguments: { place_id: '${s1.place_id}' }, purpose: 'its opening hours' },
      {
        id: 's3',
        tool: 'maps.directions',
        arguments: { origin: 'Sloterdijk station', destination: '${s1.address}', mode: 'transit' },
        purpose: 'the way by tram',
      },
    ],
  }),
]);
const model = await createModel({ baseUrl: script.baseUrl, model: 'scripted' });
const planner = createPlanner({ catalog, model });
const agents = createAgents({
  store: await openStore(),
  catalog: () => catalog,
  policy: fixedPolicy(createPolicy({})),
  planner,
  executors: [],
});
await agents.index.settled();
const app = createServer({
  planner,
  agents,
  pages: await readConsole(),
  authenticate: createAuthenticate({ operatorToken: TOKEN }),
});
const url = await app.listen({ host: '127.0.0.1', port: 0 });

const { router } = agents;
const { id } = await router.createSession({ user: 'ann' });
const askFor = (tool, values, from) => {
  const sources = Object.fromEntries(Object.entries(from).map(([name, source]) => [name, { source }]));
  return router.requestApproval(id, { tool, arguments: values }, { sources });
};
const mail = { to: ['priya@example.com'], subject: 'Budget sync', body: 'See you on Thursday at 10.' };
const asked = await askFor('send_mail', mail, { to: 'step', subject: 'request', body: 'composed' });
await router.approvals.grant(asked.approval.id, { by: { user: 'olga', roles: ['operator'] }, reason: 'as agreed' });
const later = { ...mail, body: 'See you on Friday at 10.' };
await askFor('send_mail', later, { to: 'step', subject: 'request', body: 'composed' });
const hotel = { hotel_id: 'h-204', check_in: '2026-12-03', check_out: '2026-12-05', guests: 2 };
await askFor('book_hotel', hotel, { hotel_id: 'step', check_in: 'computed', check_out: 'computed', guests: 'unknown' });

const browser = await startChromium();
/** The page, as far down as it tells something. */
async function shoot(name, address, { ready, height, act = async () => {} }) {
  const page = await browser.newPage({ viewport: { width: Number(width), height }, locale: 'en-GB' });
  await page.addInitScript(`sessionStorage.setItem('winnow-console', '{"token": "${TOKEN}", "name": "olga"}')`);
  await page.goto(`${url}/${address}`);
  await act(page);
  await page.locator(ready).first().waitFor();
  await page.screenshot({ path: join(folder, `${name}.png`) });
}
await shoot('console-try', `#try?${new URLSearchParams({ message: MESSAGE })}`, {
  ready: '[data-kind="plan"]',
  height: 985,
  act: (page) => page.getByRole('button', { name: 'Plan', exact: true }).click(),
});
await shoot('console-approvals', '#approvals', { ready: '[data-approval] + [data-approval]', height: 700 });
await browser.close();
await app.close();
await model.close();
await script.close();
