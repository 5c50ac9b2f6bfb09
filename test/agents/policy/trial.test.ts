/** What another policy would decide, over HTTP: on a call that never runs, and on the calls that agents made. */
import { describe, expect, it } from 'vitest';
import { createCatalog } from '../../../src/core/catalog/catalog.js';
import { type AgentServerOptions, startAgentServer, TOOLS } from '../../adapters/http/agents/setup.js';
import { createTool } from '../../support/create-tool.js';

const OPERATOR = { user: 'olga', roles: 'operator' };
const ANN = { user: 'ann', roles: 'dev' };
const NO_FILES = { name: 'no files', match: { tool: 'file_*' }, decision: 'deny' };
const ETC = {
  name: 'etc',
  match: { arguments: { path: { pattern: '^/etc/' } } },
  decision: 'deny',
  reason: 'Not there.',
};

async function start(options: AgentServerOptions = {}) {
  const server = await startAgentServer(options);
  const post = async (what: string, body: object, who = OPERATOR) => server.ask(`POST /v1/policy/${what}`, body, who);
  const { body: session } = await server.ask('POST /v1/sessions', {}, ANN);
  const act = async (what: string, body: object) =>
    (await server.ask(`POST /v1/sessions/${session.id}/${what}`, body, ANN)).body;
  const call = async (tool: string, given: object = {}) => act('call', { tool, arguments: given });
  const replay = async (policy: unknown) =>
    (await post('replay', { policy: typeof policy === 'string' ? policy : JSON.stringify(policy) })).body;
  return { ...server, post, act, call, replay };
}

describe('a call that is tested', () => {
  it.each<[string, AgentServerOptions['policy'], object, object]>([
    [
      'allowed by no rule',
      {},
      { tool: 'file_read', arguments: { path: 'a' } },
      { decision: 'allow', code: 'allowed', risk: 'low' },
    ],
    [
      'allowed by a rule',
      { default: 'deny', rules: [{ name: 'lists', match: { role: 'dev' }, decision: 'allow' }] },
      { tool: 'file_list', roles: ['dev'] },
      { decision: 'allow', rule: 'lists' },
    ],
    [
      'denied by name',
      { rules: [{ ...NO_FILES, decision: 'deny' }] },
      { tool: 'file_list' },
      { code: 'denied', rule: 'no files' },
    ],
    [
      'denied by an argument',
      { rules: [{ ...ETC, decision: 'deny' }] },
      { tool: 'file_read', arguments: { path: '/etc/x' } },
      { decision: 'deny', code: 'not_allowed', rule: 'etc', reason: 'Not there.' },
    ],
    [
      'left to an approval',
      {},
      { tool: 'file_delete', arguments: { path: 'a' } },
      { decision: 'needs_approval', risk: 'high' },
    ],
    [
      'only warned of',
      { strict: false, rules: [{ ...NO_FILES, decision: 'deny' }] },
      { tool: 'file_list' },
      { decision: 'allow', isWarned: true, code: 'denied', rule: 'no files' },
    ],
    [
      'with wrong arguments',
      {},
      { tool: 'file_read' },
      { code: 'invalid_arguments', issues: [expect.stringContaining('path')] },
    ],
    ['of a tool of another user', {}, { tool: 'diary', user: 'ann' }, { code: 'unknown_tool' }],
    ['of a tool of that user', {}, { tool: 'diary', user: 'bob' }, { decision: 'allow' }],
  ])('is %s, with the rule, and never runs', async (_, policy = {}, body, verdict) => {
    const { post, runs, ask } = await start({ policy });
    expect((await post('test', body)).body).toMatchObject(verdict);
    expect(runs).toEqual([]);
    expect((await ask('GET /v1/audit?event=call', undefined, OPERATOR)).body.entries).toEqual([]);
  });

  it('is decided by the text of another policy where one is given', async () => {
    const { post } = await start();
    const policy = 'rules:\n  - {name: no files, match: {tool: "file_*"}, decision: deny}\n';
    expect((await post('test', { tool: 'file_list', policy })).body).toMatchObject({ rule: 'no files' });
    expect((await post('test', { tool: 'file_list' })).body).toMatchObject({ decision: 'allow' });
  });

  it.each([
    ['{"rule": []}', 'rule'],
    ['', 'empty'],
    ['a: [', 'read as JSON or YAML'],
    ['['.repeat(100_000), 'nested more than 256 levels'],
    ['"text"', 'policy'],
  ])('needs a policy that can be read: %j', async (policy, message) => {
    const { post } = await start();
    for (const [what, more] of [
      ['test', { tool: 'file_list' }],
      ['replay', {}],
    ] as const) {
      const { status, body } = await post(what, { policy, ...more });
      expect([status, body.code, body.detail]).toEqual([400, 'invalid_request', expect.stringContaining(message)]);
    }
  });

  it('is for operators, as what was called is', async () => {
    const { post } = await start();
    expect((await post('test', { tool: 'diary', user: 'bob' }, ANN)).status).toBe(404);
    expect((await post('replay', { policy: '{}' }, ANN)).status).toBe(404);
  });
});

describe('the calls of the last day', () => {
  it('are decided again: what differs is counted by tool, user and decision', async () => {
    const { act, call, replay } = await start();
    await act('enable', { names: ['file_read', 'file_list'] });
    await call('file_read', { path: 'a' });
    await call('file_read', { path: 'b' });
    await call('file_list');
    const { calls, undecided, differences } = await replay({ rules: [{ ...NO_FILES, match: { tool: 'file_read' } }] });
    expect([calls, undecided]).toEqual([3, 0]);
    const after = { decision: 'deny', code: 'denied', rule: 'no files' };
    expect(differences).toMatchObject([
      { tool: 'file_read', user: 'ann', count: 2, before: { decision: 'allow' }, after },
    ]);
    expect((await replay({})).differences).toEqual([]);
  });

  it('are left open where a decision needs arguments, which only an approval keeps', async () => {
    const { ask, act, call, replay } = await start();
    await act('enable', { names: ['file_read', 'file_list', 'file_delete'] });
    await call('file_read', { path: '/etc/x' });
    await call('file_list');
    const { approval } = await call('file_delete', { path: '/etc/x' });
    const { calls, undecided, differences } = await replay({
      rules: [{ ...ETC, match: { ...ETC.match, tool: 'file_*' } }],
    });
    // file_list has no such argument, but a pattern may match what is not there.
    expect([calls, undecided]).toEqual([3, 2]);
    expect(differences).toMatchObject([
      { tool: 'file_delete', before: { decision: 'needs_approval' }, after: { code: 'not_allowed', rule: 'etc' } },
    ]);
    const both = { rules: [NO_FILES, ETC] };
    expect(await replay(both)).toMatchObject({ undecided: 0, differences: [{ count: 1 }, { count: 1 }, { count: 1 }] });
    await ask(`POST /v1/approvals/${approval}/grant`, { arguments: { path: '/home' } }, OPERATOR);
    expect((await call('file_delete', { path: '/home' })).ok).toBe(true);
    expect((await replay({ rules: [ETC] })).differences).toMatchObject([{ count: 1 }]);
  });

  it('know what was called before, whether it was enabled, and when', async () => {
    const { act, call, replay } = await start();
    await call('file_list');
    await act('enable', { names: ['file_read', 'file_list'] });
    await call('file_read', { path: 'a' });
    await call('file_list');
    await call('file_read', { path: 'a' });
    const first = { preconditions: [{ match: { tool: 'file_read' }, requires: ['file_list called'] }] };
    expect((await replay(first)).differences).toMatchObject([
      { tool: 'file_read', count: 1, after: { code: 'precondition_unmet' } },
    ]);
    expect((await replay({ pinned: ['file_list'] })).differences).toMatchObject([
      { tool: 'file_list', count: 1, before: { code: 'not_enabled' }, after: { decision: 'allow' } },
    ]);
    const same = {
      preconditions: [{ match: { tool: 'file_read' }, requires: [{ called: 'file_list', same: 'path' }] }],
    };
    expect(await replay(same)).toMatchObject({ undecided: 2, differences: [] });
  });

  it('that failed opened nothing for later ones, and masked secrets are no arguments', async () => {
    const secret = { properties: { pin: { type: 'string', 'x-secret': true } } };
    const pay = createTool('pay', secret, undefined, { risk: 'high' });
    const { act, call, replay } = await start({
      more: { catalog: () => createCatalog([...TOOLS, pay]), executors: [] },
    });
    await act('enable', { names: ['file_read', 'file_list', 'pay'] });
    await call('file_list');
    await call('file_read', { path: 'a' });
    await call('pay', { pin: '1' });
    const first = { preconditions: [{ match: { tool: 'file_read' }, requires: ['file_list called'] }] };
    expect(await replay(first)).toMatchObject({ calls: 3, differences: [{ tool: 'file_read', count: 1 }] });
    const pins = { rules: [{ name: 'pin', match: { arguments: { pin: { pattern: '^1$' } } }, decision: 'deny' }] };
    expect(await replay(pins)).toMatchObject({ undecided: 3 });
  });
});
