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

/** Of a catalogue with Bob's tool, and of one without it: whole and as a stream, less what a clock says. */
async function answersOf(body: object, { selection, plan }: { selection: string; plan: string }) {
  return Promise.all(
    [TOOLS, TOOLS.slice(0, 3)].map(async (tools) => {
      const model = createScriptedModel({ answers: ({ stage }) => (stage === 'selection' ? selection : plan) });
      const { url } = await startServer({ planner: plannerOf(model, tools) });
      const headers = { 'x-request-id': 'r-1', 'x-winnow-user': 'anna' };
      const whole = await post(`${url}/v1/plan`, body, { headers });
      const selected = await post(`${url}/v1/select`, body, { headers });
      const streamed = await post(`${url}/v1/plan`, body, { headers: { ...headers, accept: 'text/event-stream' } });
      const texts = await Promise.all([whole, selected, streamed].map((response) => response.text()));
      const prompts = model.calls.map(({ prompt }) => prompt);
      return {
        status: whole.status,
        prompts,
        texts: texts.map((text) => text.replaceAll(/"milliseconds":[\d.]+/g, '')),
      };
    }),
  );
}

describe("another user's private tool", () => {
  const unplannable = '{"kind": "unplannable", "reason": "no"}';
  const guess = '{"selected_tools": ["read_level", "bobs_secre"], "reason": ""}';
  const allow = ['read_level', 'annas_notes', 'bobs_secret'];

  it.each([
    ['the result', ASKED, SELECTION, unplannable, 200],
    ['an error', ASKED, SELECTION, 'no plan', 502],
    ['a fallback', ASKED, 'no JSON', unplannable, 200],
    ['a wrong guess of its name', ASKED, guess, unplannable, 200],
    ['a request that names its user', { ...ASKED, user: 'bob' }, SELECTION, unplannable, 200],
    ['a request that requires it', { ...ASKED, require: ['bobs_secret'], allow }, SELECTION, unplannable, 200],
  ])(
    'leaves no trace in %s: prompts and answers are the same as without it',
    async (_name, body, selection, plan, status) => {
      const [there, gone] = await answersOf(body, { selection, plan });
      expect(there?.status).toBe(status);
      expect(there?.texts[2]).toMatch(/"note":"\d tools are visible"/);
      expect(there).toEqual(gone);
    },
  );
});
