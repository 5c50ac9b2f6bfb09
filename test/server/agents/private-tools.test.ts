/** A user's own tools over HTTP: added, found and run by their user, and never learnt of by another. */
import { expect, it } from '@jest/globals';
import { createSkillExecutor } from '../../../src/execution/executors/skills.js';
import { startAgentServer } from './setup.js';

const ANN = { user: 'ann' };
const OTHERS = [{ user: 'bob' }, { user: 'olga', roles: 'operator' }, { user: '' }];
const ZEBRA = {
  name: 'zebra_letters',
  toolType: 'skill',
  description: 'Zebra letters.',
  instructions: 'Write to Zora.',
};
const BASE = '/v1/private-tools';

const start = () => startAgentServer({ more: { executors: [createSkillExecutor()] } });

it('go from being added to a call, and are gone when they are removed', async () => {
  const { ask, url } = await start();
  const added = await ask(`POST ${BASE}`, { tool: { ...ZEBRA, scope: 'system', origin: 'official' } }, ANN);
  expect([added.status, added.body]).toMatchObject([201, { name: 'zebra_letters', origin: 'user:ann' }]);
  expect((await ask(`GET ${BASE}`, undefined, ANN)).body.tools).toMatchObject([{ name: 'zebra_letters' }]);
  const { body: session } = await ask('POST /v1/sessions', {}, ANN);
  const at = `/v1/sessions/${session.id}`;
  const search = async () => (await ask(`POST ${at}/search`, { query: 'zebra' }, ANN)).body.matches;
  expect(await search()).toMatchObject([{ name: 'zebra_letters' }]);
  await ask(`POST ${at}/enable`, { names: ['zebra_letters'] }, ANN);
  const called = await ask(`POST ${at}/call`, { tool: 'zebra_letters' }, ANN);
  expect(called.body).toMatchObject({ ok: true, output: 'Write to Zora.' });
  const metrics = await (await fetch(`${url}/metrics`)).text();
  expect(metrics).toContain('winnow_calls_total{tool="other",outcome="ok"} 1');
  expect(metrics).not.toContain('zebra');
  expect((await ask(`DELETE ${BASE}/zebra_letters`, undefined, ANN)).body).toEqual({ removed: 'zebra_letters' });
  expect(await search()).toEqual([]);
  expect((await ask(`POST ${at}/call`, { tool: 'zebra_letters' }, ANN)).body).toMatchObject({ code: 'unknown_tool' });
  const { body: trail } = await ask('GET /v1/audit?user=ann&tool=zebra_letters', undefined, OTHERS[1]);
  const events = trail.entries.map(({ event }: { event: string }) => event);
  expect(events).toEqual(expect.arrayContaining(['private_tool_added', 'private_tool_removed']));
});

it('are not learnt of by another: by list, search, count, plan or error text', async () => {
  const { ask, url } = await start();
  for (const who of OTHERS) {
    const { body: session } = await ask('POST /v1/sessions', {}, who);
    const at = `/v1/sessions/${session.id}`;
    const look = async () => {
      const lines: [string, unknown?][] = [
        [`POST ${at}/search`, { query: 'zebra letters' }],
        [`GET ${at}/tools?mode=classic`],
        [`POST ${at}/enable`, { names: ['zebra_letters'] }],
        [`POST ${at}/call`, { tool: 'zebra_letters' }],
        ...(who.user === '' ? [] : ([[`GET ${BASE}`], [`DELETE ${BASE}/zebra_letters`]] as [string][])),
      ];
      const answers = [];
      for (const [line, body] of lines) {
        const { status, body: answer } = await ask(line, body, who);
        answers.push({ line, status, ...answer, requestId: undefined, milliseconds: undefined });
      }
      return answers;
    };
    await ask(`DELETE ${BASE}/zebra_letters`, undefined, ANN);
    const before = await look();
    await ask(`POST ${BASE}`, { tool: ZEBRA }, ANN);
    expect(await look()).toEqual(before);
  }
  expect(await (await fetch(`${url}/metrics`)).text()).not.toContain('zebra');
});

it('belong to whom the gateway names, whoever the body names; without a gateway, the body must name one', async () => {
  const { ask } = await start();
  await ask(`POST ${BASE}`, { user: 'ann', tool: ZEBRA }, { user: 'bob' });
  expect((await ask(`GET ${BASE}`, undefined, ANN)).body.tools).toEqual([]);
  expect((await ask(`GET ${BASE}?user=bob`, undefined, ANN)).body.tools).toEqual([]);
  const ofBob = (await ask(`GET ${BASE}?user=bob`)).body.tools.map(({ name }: { name: string }) => name);
  expect(ofBob).toEqual(['diary', 'zebra_letters']);
  expect(await ask(`GET ${BASE}`)).toMatchObject({ status: 400, body: { issues: [expect.stringContaining('user:')] } });
  expect((await ask(`GET ${BASE}`, undefined, { user: '' })).status).toBe(400);
  expect((await ask(`DELETE ${BASE}/nothing`, undefined, ANN)).status).toBe(404);
});

it('with a slip in a key are added, and the answer tells what is without effect', async () => {
  const { ask } = await start();
  const { status, body } = await ask(`POST ${BASE}`, { tool: { ...ZEBRA, key_words: ['stripes'] } }, ANN);
  expect([status, body.notes]).toEqual([201, ['key_words: an unknown key, without effect; "keywords" may be meant']]);
  expect((await ask(`POST ${BASE}`, { tool: ZEBRA }, ANN)).body.notes).toEqual([]);
});

it('that are not usable are refused with what is wrong of them', async () => {
  const { ask } = await start();
  const rows: [unknown, string][] = [
    [{}, 'tool'],
    [{ tool: { description: 'x' } }, 'name'],
    [{ tool: { name: 'a"b', toolType: 'skill' } }, 'name'],
    [{ tool: { name: 'a', toolType: 'magic' } }, 'toolType'],
    [{ tool: { name: 'a', toolType: 'skill', inputSchema: { type: 7 } } }, 'inputSchema'],
    [{ tool: { name: 'a', toolType: 'skill' }, owner: 'bob' }, 'owner'],
  ];
  for (const [body, field] of rows) {
    const { status, body: problem } = await ask(`POST ${BASE}`, body, ANN);
    expect([status, problem.issues.join()]).toEqual([400, expect.stringContaining(field)]);
  }
  expect((await ask(`GET ${BASE}`, undefined, ANN)).body.tools).toEqual([]);
});
