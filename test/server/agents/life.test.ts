/** The life of an agent's session over real HTTP, with a real store, sandbox and index. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startAgentServer } from './setup.js';

const ANN = { user: 'ann' };
const BOB = { user: 'bob' };
const OPERATOR = { user: 'olga', roles: 'staff, operator' };
const DELETE = { tool: 'file_delete', arguments: { path: 'old.txt' } };

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'winnow-agents-'));
});
afterAll(() => rm(folder, { recursive: true }));

it('goes from a search to an approved call, once, and all of it is in the audit', async () => {
  const { ask, runs } = await startAgentServer({ place: { file: join(folder, 'life.db') } });
  const opened = await ask('POST /v1/sessions', { user: 'mallory', roles: ['operator'] }, ANN);
  expect([opened.status, opened.body]).toMatchObject([201, { user: 'ann', roles: [], turn: 1, enabled: [] }]);
  const session = `/v1/sessions/${opened.body.id}`;

  const found = await ask(`POST ${session}/search`, { query: 'delete a file' }, ANN);
  expect(found.body.matches[0]).toMatchObject({ name: 'file_delete', risk: 'high', enabled: false });
  expect((await ask(`POST ${session}/call`, DELETE, ANN)).body).toMatchObject({ ok: false, code: 'not_enabled' });
  const enabled = await ask(`POST ${session}/enable`, { names: ['file_delete', 'file_read', 'diary'] }, ANN);
  expect(enabled.body).toMatchObject({
    enabled: [{ name: 'file_delete', expires_after_turns: 3 }, { name: 'file_read' }],
    rejected: [{ name: 'diary', code: 'unknown_tool' }],
  });
  const read = await ask(`POST ${session}/call`, { tool: 'file_read', arguments: { path: 'a' } }, ANN);
  expect(read.body).toMatchObject({ ok: true, output: { text: 'hello' } });

  const refused = await ask(`POST ${session}/call`, DELETE, ANN);
  expect([refused.status, refused.body]).toMatchObject([
    200,
    { ok: false, code: 'needs_approval', reason: expect.any(String), next: expect.any(String) },
  ]);
  const approval = `/v1/approvals/${refused.body.approval}`;
  expect((await ask(`POST ${approval}/grant`, {}, ANN)).body).toMatchObject({ ok: false, code: 'approval_own' });
  expect((await ask(`POST ${session}/call`, DELETE, ANN)).body).toMatchObject({ code: 'approval_pending' });
  const granted = await ask(`POST ${approval}/grant`, { by: { user: 'ann' }, reason: 'it is old' }, BOB);
  expect(granted.body).toMatchObject({ ok: true, approval: { state: 'granted', decidedBy: 'bob' } });

  const other = { ...DELETE, arguments: { path: 'new.txt' }, approval: refused.body.approval };
  expect((await ask(`POST ${session}/call`, other, ANN)).body).toMatchObject({ code: 'approval_mismatch' });
  expect((await ask(`POST ${session}/call`, DELETE, ANN)).body).toMatchObject({ ok: true, output: { gone: true } });
  const again = { ...DELETE, approval: refused.body.approval };
  expect((await ask(`POST ${session}/call`, again, ANN)).body).toMatchObject({ ok: false, code: 'approval_used' });
  expect(runs).toEqual(['file_read a', 'file_delete old.txt']);

  const { body: trail } = await ask(`GET /v1/audit?session=${opened.body.id}&tool=file_delete`, undefined, OPERATOR);
  expect(trail.entries.map((one: Record<string, unknown>) => `${one.event} ${one.outcome}`).reverse()).toEqual([
    'call refused',
    'enable allowed',
    'approval_requested needs_approval',
    'call needs_approval',
    'call needs_approval',
    'approval_granted allowed',
    'call refused',
    'call allowed',
    'call refused',
  ]);
});

it('keeps session, enablements and open approvals over a restart of the server', async () => {
  const place = { file: join(folder, 'restart.db') };
  const first = await startAgentServer({ place });
  const { body: opened } = await first.ask('POST /v1/sessions', {}, ANN);
  const session = `/v1/sessions/${opened.id}`;
  await first.ask(`POST ${session}/enable`, { names: ['file_delete'], ttl_turns: 2 }, ANN);
  const { body: refused } = await first.ask(`POST ${session}/call`, DELETE, ANN);
  await first.app.close();

  const { ask, runs } = await startAgentServer({ place });
  expect((await ask(`GET ${session}`, undefined, ANN)).body).toMatchObject({
    turn: 1,
    enabled: [{ name: 'file_delete', via: 'asked', remainingTurns: 2 }],
  });
  await ask(`POST /v1/approvals/${refused.approval}/grant`, {}, BOB);
  expect((await ask(`POST ${session}/call`, DELETE, ANN)).body).toMatchObject({ ok: true });
  expect(runs).toEqual(['file_delete old.txt']);
  expect((await ask(`POST ${session}/turns`, undefined, ANN)).body).toMatchObject({ turn: 2 });
  expect((await ask(`POST ${session}/turns`, undefined, ANN)).body).toMatchObject({ turn: 3, enabled: [] });
  expect((await ask(`DELETE ${session}`, undefined, ANN)).body).toMatchObject({ endedAt: expect.any(String) });
  expect((await ask(`POST ${session}/turns`, undefined, ANN)).status).toBe(404);
  expect((await ask(`POST ${session}/call`, DELETE, ANN)).body).toMatchObject({ code: 'session_ended' });
});

it('of another user looks like none, whatever is asked of it', async () => {
  const { ask, runs } = await startAgentServer();
  const { body: opened } = await ask('POST /v1/sessions', {}, ANN);
  const questions: [string, string, unknown?][] = [
    ['GET', ''],
    ['DELETE', ''],
    ['POST', '/turns'],
    ['POST', '/search', { query: 'x' }],
    ['POST', '/enable', { names: ['file_read'] }],
    ['POST', '/disable', { names: ['file_read'] }],
    ['GET', '/tools'],
    ['POST', '/call', DELETE],
  ];
  for (const [method, end, body] of questions) {
    for (const who of [BOB, { user: '' }, OPERATOR]) {
      const real = await ask(`${method} /v1/sessions/${opened.id}${end}`, body, who);
      const none = await ask(`${method} /v1/sessions/nothing${end}`, body, who);
      expect([method, end, real.status, real.body.code]).toEqual([method, end, 404, 'not_found']);
      expect(real.body.detail).toBe(none.body.detail.replace('nothing', opened.id));
    }
  }
  expect((await ask(`GET /v1/sessions/${opened.id}`, undefined, ANN)).body).toMatchObject({ turn: 1, enabled: [] });
  expect(runs).toEqual([]);
});

describe('what is about all users', () => {
  it('is for operators: the audit and the index', async () => {
    const { ask } = await startAgentServer();
    for (const line of ['GET /v1/audit', 'GET /v1/index', 'POST /v1/index/rebuild']) {
      for (const who of [ANN, { user: '' }])
        expect([line, (await ask(line, undefined, who)).status]).toEqual([line, 404]);
      for (const who of [OPERATOR, {}]) expect([line, (await ask(line, undefined, who)).status]).toEqual([line, 200]);
    }
    expect((await ask('GET /v1/index')).body).toMatchObject({ state: 'ready', tools: 4 });
  });

  it('telemetry gives a user their own figures alone', async () => {
    const { ask } = await startAgentServer();
    for (const who of [ANN, BOB]) {
      const { body } = await ask('POST /v1/sessions', {}, who);
      await ask(`POST /v1/sessions/${body.id}/search`, { query: 'read' }, who);
    }
    const searches = async (query: string, who: object) =>
      (await ask(`GET /v1/telemetry${query}`, undefined, who)).body.total?.searches;
    expect(await searches('', OPERATOR)).toBe(2);
    expect(await searches('', ANN)).toBe(1);
    expect(await searches('?user=ann', ANN)).toBe(1);
    expect((await ask('GET /v1/telemetry?user=bob', undefined, ANN)).status).toBe(404);
    expect((await ask('GET /v1/telemetry', undefined, { user: '' })).status).toBe(404);
    const { body } = await ask('GET /v1/telemetry?by=user');
    expect(body.rows.map((row: { key: string }) => row.key)).toEqual(['ann', 'bob']);
  });

  it('approvals are seen by those who may decide, and by the asker', async () => {
    const { ask } = await startAgentServer({ policy: { approvals: { approvers: { roles: ['lead'] } } } });
    const { body: opened } = await ask('POST /v1/sessions', {}, ANN);
    await ask(`POST /v1/sessions/${opened.id}/enable`, { names: ['file_delete'] }, ANN);
    const { body: refused } = await ask(`POST /v1/sessions/${opened.id}/call`, DELETE, ANN);
    const seen = async (who: object, query = '') =>
      (await ask(`GET /v1/approvals${query}`, undefined, who)).body.approvals.length;
    const lead = { user: 'lea', roles: 'lead' };
    expect([await seen(ANN), await seen(lead), await seen(OPERATOR), await seen({})]).toEqual([1, 1, 1, 1]);
    expect([await seen(BOB), await seen(BOB, '?user=ann'), await seen({ user: '' })]).toEqual([0, 0, 0]);
    expect([await seen(lead, '?state=pending'), await seen(lead, '?state=granted')]).toEqual([1, 0]);
    const one = `GET /v1/approvals/${refused.approval}`;
    expect((await ask(one, undefined, BOB)).status).toBe(404);
    expect((await ask(one, undefined, ANN)).body).toMatchObject({
      tool: 'file_delete',
      arguments: { path: 'old.txt' },
    });
    const by = { by: { user: 'lea', roles: ['lead'] } };
    expect((await ask(`POST /v1/approvals/${refused.approval}/grant`, by, BOB)).body.code).toBe('approval_not_allowed');
    expect((await ask(`POST /v1/approvals/${refused.approval}/refuse`, {}, lead)).body).toMatchObject({ ok: true });
    expect((await ask(`POST /v1/sessions/${opened.id}/call`, DELETE, ANN)).body.code).toBe('approval_refused');
  });
});
