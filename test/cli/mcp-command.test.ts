/** `winnow mcp` as a client starts it: a process of its own that speaks over stdin and stdout. */
import { writeFileSync } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import { createPolicy, type Policy, type PolicyInput } from '../../src/agents/policy/policy.js';
import { openStore } from '../../src/agents/store/open-store.js';
import { reportApprovers } from '../../src/cli/upkeep.js';
import { createCatalog } from '../../src/core/catalog/catalog.js';
import { createTool } from '../support/create-tool.js';
import { startScriptedServer } from '../support/scripted-server.js';
import { answer } from '../support/server-behaviours.js';
import { at, start } from './mcp-setup.js';
import { runHere, textOf } from './run-here.js';

// A process loads its sources one by one.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

it('finds, enables, is refused, waits for somebody else in another process, runs once, and ends its session', async () => {
  const model = await startScriptedServer(() =>
    answer('{"kind": "plan", "steps": [{"id": "s1", "tool": "file_list", "arguments": {}}]}'),
  );
  writeFileSync(at('mcp.yaml'), 'mcp: { toolPrefix: w_ }\n');
  const store = ['--store', at('life.db')];
  const { ask, names, changed, client, errors, log } = await start([
    ...store,
    ...['--set', `toolsModule=${at('tools.mjs')}`, '--user', 'ann', '--role', 'dev', '--project', 'site'],
    ...['--base-url', model.baseUrl, '--model', 'scripted', '--config', at('mcp.yaml'), '--risk-ceiling', 'high'],
  ]);
  const own = ['tool_search', 'tool_enable', 'tool_disable', 'tool_call', 'plan', 'select', 'run'].map(
    (name) => `w_${name}`,
  );
  expect(await names()).toEqual(own);
  expect((await ask('w_tool_search', { query: 'delete a file' })).matches[0]).toMatchObject({ name: 'file_delete' });
  const enabled = await ask('w_tool_enable', { names: ['file_list', 'file_delete', 'diary'] });
  expect(enabled.rejected).toMatchObject([{ name: 'diary', code: 'unknown_tool' }]);
  await changed(1);
  expect((await names()).slice(7)).toEqual(['file_list', 'file_delete']);
  expect(await client.callTool({ name: 'file_list' })).toEqual({ content: [{ type: 'text', text: '["old.txt"]' }] });
  const asked = { path: 'old.txt' };
  const { code, approval } = await ask('file_delete', asked);
  expect(code).toBe('needs_approval');
  await textOf(['approvals', 'grant', approval, ...store, '--by', 'bob']);
  expect(await ask('file_delete', asked)).toEqual({ gone: 'old.txt', for: 'ann' });
  expect(await ask('file_delete', asked)).toMatchObject({ code: 'needs_approval' });

  // Only now is the model asked: a client does not wait for it when it starts the server.
  expect(model.requests).toEqual([]);
  expect(await ask('w_plan', { message: 'list the files' })).toMatchObject({ steps: [{ tool: 'file_list' }] });
  expect(model.requests.length).toBeGreaterThan(0);

  await client.close();
  const { sessions, close } = await openStore({ file: at('life.db') });
  const [session] = await sessions.list({ limit: 10 });
  const owner = { user: 'ann', roles: ['dev'], project: 'site', riskCeiling: 'high' };
  expect(session).toMatchObject({ ...owner, endedAt: expect.any(String) });
  await close();
  expect(errors).toEqual([]);
  expect(log()).toContain('{"jsonrpc": "chatter"}');
  await model.close();
});

describe('over stdio', () => {
  const READS = createTool('file_list', {}, undefined, { risk: 'low' });
  const WRITES = createTool('file_delete', {}, undefined, { risk: 'high' });
  const facts = { tools: [READS, WRITES], policy: {}, isTrial: true, user: 'ann', canAskPerson: true };

  /** What is said at the start, and what when the client is there. */
  function said(
    given: Partial<Omit<typeof facts, 'policy' | 'user'>> & { policy?: PolicyInput; user?: string | undefined },
  ) {
    const { tools, policy, isTrial, user, canAskPerson } = { ...facts, ...given };
    const catalog = createCatalog(tools);
    const [made, lines]: [Policy, string[]] = [createPolicy(policy), []];
    const agents = { policy: () => made, catalog: () => catalog };
    const onClient = reportApprovers({ agents, isTrial, user }, { warn: (line: string) => void lines.push(line) });
    const before = lines.length;
    onClient({ canAskPerson });
    return { start: lines.slice(0, before), client: lines.slice(before) };
  }
  const self: PolicyInput = { approvals: { self: 'ask' } };
  const asks: PolicyInput = { rules: [{ name: 'ask', match: { tool: 'file_list' }, decision: 'needs_approval' }] };
  const store = expect.stringMatching(/^nobody can grant.* in the memory .*--store FILE.*approvals: \{self: ask\}/u);

  it.each<[string, Parameters<typeof said>[0], { start: unknown[]; client: unknown[] }]>([
    ['approvals are in memory', {}, { start: [store], client: [] }],
    ['a rule asks', { tools: [READS], policy: asks }, { start: [store], client: [] }],
    [
      'nobody asks',
      { user: undefined, isTrial: false },
      { start: [expect.stringContaining('--user NAME')], client: [] },
    ],
    [
      'the client can not ask',
      { policy: self, canAskPerson: false },
      { start: [], client: [expect.stringMatching(/^nobody can grant.*elicitation.*--store FILE/u)] },
    ],
  ])('it is said that nobody can grant, and what to do, where %s', (_, given, lines) => {
    expect(said(given)).toEqual(lines);
  });

  it.each<[string, Parameters<typeof said>[0]]>([
    ['another process can', { isTrial: false }],
    ['the client asks', { policy: self }],
    ['nothing needs an approval', { tools: [READS] }],
    ['nothing is refused', { policy: { strict: false } }],
  ])('nothing is said where %s', (_, given) => {
    expect(said(given)).toEqual({ start: [], client: [] });
  });
});

it('winnow mcp refuses a risk that is none', async () => {
  const { stderr, exitCode } = await runHere(['mcp', '--risk-ceiling', 'huge']);
  expect([stderr, exitCode]).toEqual([expect.stringContaining('Allowed choices are low, medium, high'), 2]);
});
