import { request as httpRequest } from 'node:http';
import { text as readAll } from 'node:stream/consumers';
import { describe, expect, it } from '@jest/globals';
import type { ToolList } from '../../src/server/tool-routes.js';
import { createScriptedModel } from '../support/scripted-model.js';
import { ASKED, answeringPlanner, plannerOf, post, SELECTION, startServer, TOOLS } from './setup.js';

const SYSTEM = ['read_level', 'list_stations'];

async function namesOf(response: Response): Promise<string[]> {
  const list: ToolList = JSON.parse(await response.text());
  return list.tools.map(({ name }) => name);
}

describe('GET /v1/tools', () => {
  it.each<[string, string, Record<string, string>, string[]]>([
    ['nobody', '', {}, SYSTEM],
    ['a user', '?user=anna', {}, [...SYSTEM, 'annas_notes']],
    ['a user nobody knows', '?user=eve', {}, SYSTEM],
    ['the user of the header', '', { 'x-winnow-user': 'bob' }, [...SYSTEM, 'bobs_secret']],
    [
      'the user of the header, whoever the query names',
      '?user=bob',
      { 'x-winnow-user': 'anna' },
      [...SYSTEM, 'annas_notes'],
    ],
    ['nobody, by an empty header', '?user=bob', { 'x-winnow-user': '' }, SYSTEM],
    ['nobody, by a header that came twice', '', { 'x-winnow-user': 'anna, bob' }, SYSTEM],
  ])('lists what %s sees', async (_name, query, headers, expected) => {
    const { url } = await startServer({ planner: answeringPlanner() });
    expect(await namesOf(await fetch(`${url}/v1/tools${query}`, { headers }))).toEqual(expected);
  });

  it('tells nothing of tools that are not listed, also not by fields that name others', async () => {
    const { url } = await startServer({ planner: answeringPlanner() });
    const text = await (await fetch(`${url}/v1/tools?user=anna`)).text();
    expect(text).toContain('annas_notes');
    expect(text).not.toMatch(/bob/i);
  });

  it('has a fingerprint that another user cannot change', async () => {
    const [withAll, withoutBob] = await Promise.all(
      [TOOLS, TOOLS.slice(0, 3)].map(async (tools) => {
        const { url } = await startServer({ planner: plannerOf(createScriptedModel(), tools) });
        return (await fetch(`${url}/v1/tools?user=anna`)).text();
      }),
    );
    expect(withAll).toBe(withoutBob);
  });

  it('reads the header as UTF-8', async () => {
    const [first, ...rest] = TOOLS;
    const tools = [{ ...first, scope: { user: '王芳' } } as (typeof TOOLS)[number], ...rest];
    const { url } = await startServer({ planner: plannerOf(createScriptedModel(), tools) });
    const asked = async (value: string) => {
      const text = await new Promise<string>((resolve, reject) => {
        const request = httpRequest(`${url}/v1/tools`, { headers: { 'x-winnow-user': value } }, (response) =>
          resolve(readAll(response)),
        );
        request.on('error', reject).end();
      });
      return JSON.parse(text);
    };
    expect(await asked(Buffer.from('王芳').toString('latin1'))).toMatchObject({
      tools: [{ name: 'read_level' }, { name: 'list_stations' }],
    });
    expect(await asked('\xff')).toMatchObject({ status: 400, code: 'invalid_request' });
  });
});

describe("another user's private tool", () => {
  const reaching = {
    ...ASKED,
    user: 'bob',
    require: ['bobs_secret'],
    allow: ['read_level', 'bobs_secret', 'annas_notes'],
  };

  it.each(['/v1/plan', '/v1/select'])(
    'is reached by no field of the body when the header names the caller (%s)',
    async (path) => {
      const model = createScriptedModel({
        answers: ({ stage }) => (stage === 'selection' ? SELECTION : '{"kind": "unplannable", "reason": "no"}'),
      });
      const { url } = await startServer({ planner: plannerOf(model) });
      const response = await post(`${url}${path}`, reaching, { headers: { 'x-winnow-user': 'anna' } });
      expect(response.status).toBe(200);
      expect(await response.text()).not.toMatch(/bob/i);
      for (const { prompt } of model.calls) expect(prompt.system).not.toMatch(/bob/i);
    },
  );

  it.each([
    ['the result', SELECTION, '{"kind": "unplannable", "reason": "no"}', 200],
    ['an error', SELECTION, 'no plan', 502],
    ['a fallback', 'no JSON', '{"kind": "unplannable", "reason": "no"}', 200],
    [
      'a wrong guess of its name',
      '{"selected_tools": ["read_level", "bobs_secre"], "reason": ""}',
      '{"kind": "unplannable", "reason": "no"}',
      200,
    ],
  ])('leaves no trace in %s: the answer is the same as without it', async (_name, selection, plan, status) => {
    const answers = await Promise.all(
      [TOOLS, TOOLS.slice(0, 3)].map(async (tools) => {
        const model = createScriptedModel({ answers: ({ stage }) => (stage === 'selection' ? selection : plan) });
        const { url } = await startServer({ planner: plannerOf(model, tools) });
        const whole = await post(`${url}/v1/plan`, { ...ASKED, user: 'anna' }, { headers: { 'x-request-id': 'r-1' } });
        const headers = { 'x-request-id': 'r-1', accept: 'text/event-stream' };
        const streamed = await post(`${url}/v1/plan`, { ...ASKED, user: 'anna' }, { headers });
        expect(whole.status).toBe(status);
        return [await whole.text(), await streamed.text()].map((text) => text.replaceAll(/"milliseconds":[\d.]+/g, ''));
      }),
    );
    expect(answers[0]?.[1]).toContain('3 tools are visible');
    expect(answers[0]).toEqual(answers[1]);
  });
});
