/** `POST /v1/approvals`: an approval asked for before the call, over real HTTP. */
import { describe, expect, it } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { startAgentServer } from './setup.js';

const ANN = { user: 'ann' };
const BOB = { user: 'bob' };
const DELETE = { tool: 'file_delete', arguments: { path: 'old.txt' } };

async function openSession() {
  const server = await startAgentServer();
  const { body } = await server.ask('POST /v1/sessions', {}, ANN);
  const request = (more: object = {}, who: object = ANN) =>
    server.ask('POST /v1/approvals', { session: body.id, ...DELETE, ...more }, who);
  return { ...server, session: `/v1/sessions/${body.id}`, id: body.id, request };
}

describe('POST /v1/approvals', () => {
  it('asks ahead, is granted by somebody else, and lets exactly that call through, once', async () => {
    const { ask, request, session, runs } = await openSession();
    const asked = await request({ reason: 'tidy up' });
    expect(asked).toMatchObject({
      status: 201,
      body: {
        ok: true,
        approval: { state: 'pending', user: 'ann', tool: 'file_delete', arguments: { path: 'old.txt' } },
      },
    });
    expect(asked.body.approval.reason).toContain('"tidy up"');
    const approval = asked.body.approval.id;
    expect(runs).toEqual([]);
    expect((await ask(`POST /v1/approvals/${approval}/grant`, {}, ANN)).body.code).toBe('approval_own');
    await ask(`POST /v1/approvals/${approval}/grant`, {}, BOB);
    expect(await request()).toMatchObject({ status: 201, body: { approval: { id: approval, state: 'granted' } } });

    await ask(`POST ${session}/enable`, { names: ['file_delete'] }, ANN);
    const other = { ...DELETE, arguments: { path: 'old.txt ' } };
    expect((await ask(`POST ${session}/call`, other, ANN)).body.code).toBe('needs_approval');
    expect((await ask(`POST ${session}/call`, { ...other, approval }, ANN)).body.code).toBe('approval_mismatch');
    expect((await ask(`POST ${session}/call`, DELETE, ANN)).body).toMatchObject({ ok: true });
    expect((await ask(`POST ${session}/call`, { ...DELETE, approval }, ANN)).body.code).toBe('approval_used');
    expect(runs).toEqual(['file_delete old.txt']);
  });

  it('asked twice, also at the same moment, is one question', async () => {
    const { ask, request } = await openSession();
    const answers = await Promise.all([request(), request(), request({ arguments: { path: 'old.txt' } })]);
    expect(new Set(answers.map(({ body }) => body.approval.id)).size).toBe(1);
    expect((await ask('GET /v1/approvals', undefined, ANN)).body.approvals).toHaveLength(1);
  });

  it.each([
    ['wrong arguments', { arguments: { path: 1 } }, 'invalid_arguments'],
    ['a tool that does not exist', { tool: 'nothing' }, 'unknown_tool'],
    ["another user's tool", { tool: 'diary', arguments: {} }, 'unknown_tool'],
    ['a call that needs none', { tool: 'file_list', arguments: {} }, 'approval_not_needed'],
  ])('answers 200 with what to do for %s', async (_, more, code) => {
    const { request } = await openSession();
    const { status, body } = await request(more);
    expect([status, body]).toEqual([
      200,
      expect.objectContaining({ ok: false, code, reason: expect.any(String), next: expect.any(String) }),
    ]);
  });

  it("does not find another user's session, and names the field of a broken request", async () => {
    const { ask, request } = await openSession();
    for (const who of [BOB, { user: '' }]) {
      expect(await request({}, who)).toMatchObject({ status: 404, body: { code: 'not_found' } });
      expect(await request({ session: 'nothing' }, who)).toMatchObject({ status: 404 });
    }
    for (const [more, field] of [
      [{ session: undefined }, 'session'],
      [{ tool: '' }, 'tool'],
      [{ arguments: [] }, 'arguments'],
      [{ reason: '' }, 'reason'],
      [{ approval: 'x' }, 'approval'],
    ] as const)
      expect(await request(more)).toMatchObject({ status: 400, body: { issues: [expect.stringContaining(field)] } });
    expect((await ask('GET /v1/approvals')).body.approvals).toEqual([]);
  });

  it('is in the OpenAPI document with both of its answers, and they are of its form', async () => {
    const { ask, request } = await openSession();
    const { body: document } = await ask('GET /openapi.json');
    const operation = document.paths['/v1/approvals'].post;
    expect(Object.keys(operation.responses)).toEqual(expect.arrayContaining(['200', '201', '400', '404']));
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    ajv.addSchema({ $id: 'openapi', ...document });
    const check = ajv.getSchema('openapi#/components/schemas/ApprovalResult');
    for (const more of [{}, { arguments: { path: 1 } }]) {
      check?.((await request(more)).body);
      expect([more, check?.errors]).toEqual([more, null]);
    }
    expect(check?.({ ok: true })).toBe(false);
  });
});
