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
import { createFunctionExecutor } from '../../../src/agents/sandbox/executors/functions.ts';
import { openStore } from '../../../src/agents/store/open-store.ts';
import { loadCatalog } from '../../../src/core/catalog/load.ts';
import { createModel } from '../../../src/core/model/create-model.ts';
import { createPlanner } from '../../../src/core/planner.ts';
import { startChromium } from '../../support/browser.ts';
import { startScriptedServer } from '../../support/scripted-server.ts';
import { answerJson } from '../../support/server-behaviours.ts';

const [folder = '.', width = '1280'] = process.argv.slice(2);
const MESSAGE = 'Level and storage curve of the Panshitou reservoir';
const TOKEN = 'the-token-of-the-operator';

const { catalog } = await loadCatalog({
  sources: ['fixtures/catalogs/hydrology.json', 'fixtures/catalogs/coding-agent.json'],
});
const script = await startScriptedServer([
  answerJson({
    selected_tools: ['query_reservoir_last', 'query_reservoir_capacity_curve', 'lookup_station_code'],
    reason: 'the level, the curve, and the code that both need',
  }),
  answerJson({
    kind: 'plan',
    steps: [
      { id: 's1', tool: 'lookup_station_code', arguments: { name: 'Panshitou' }, purpose: 'the code of the station' },
      { id: 's2', tool: 'query_reservoir_last', arguments: { stcd: '${s1.stcd}' }, purpose: 'its level now' },
      {
        id: 's3',
        tool: 'query_reservoir_capacity_curve',
        arguments: { stcd: '${s1.stcd}' },
        purpose: 'its storage curve',
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
  executors: [createFunctionExecutor({ file_delete: () => ({ deleted: true }), git_push: () => ({ pushed: true }) })],
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
await router.enable(id, { names: ['file_delete', 'git_push'] });
const askFor = async (tool, values) => router.requestApproval(id, { tool, arguments: values });
const first = await askFor('file_delete', { path: 'build/old.txt' });
await router.approvals.grant(first.approval.id, { by: { user: 'olga', roles: ['operator'] }, reason: 'it is old' });
await askFor('git_push', { branch: 'main' });
await askFor('file_delete', { path: 'build/new.txt' });

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
  height: 1080,
  act: (page) => page.getByRole('button', { name: 'Plan', exact: true }).click(),
});
await shoot('console-approvals', '#approvals', { ready: '[data-approval] + [data-approval]', height: 900 });
await browser.close();
await app.close();
await model.close();
await script.close();
