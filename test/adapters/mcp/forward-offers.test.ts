/** What servers behind Winnow offer besides tools, to clients of both eras: whole, each under its server, and no other. */
import { resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createMcpExecutor, type McpExecutor } from '../../../src/agents/sandbox/executors/mcp.js';
import type { McpOffers } from '../../../src/agents/sandbox/executors/offers.js';
import { connect, createWorld, openModern, serveHttp } from './setup.js';

const scriptOf = (name: string) => [resolve(`test/agents/sandbox/executors/${name}.mjs`), '/dev/null'];
const SERVERS = {
  notes: { command: process.execPath, args: scriptOf('mcp-call-server') },
  'my tickets': { command: process.execPath, args: scriptOf('mcp-modern-server') },
  broken: { command: 'no-such-command-of-winnow' },
};

let executor: McpExecutor;
beforeAll(() => {
  executor = createMcpExecutor(SERVERS);
});
afterAll(() => executor.close?.());

/** Who asked, in order. */
const askers: unknown[] = [];
const offers = (): McpOffers => ({
  ...executor.offers,
  ask: (server, request, asking) => {
    askers.push(asking?.user);
    return executor.offers.ask(server, request, asking);
  },
});

async function joinBy(era: 'sessionful' | '2026-07-28', hasOffers = true) {
  const world = await createWorld();
  const parts = { ...world.parts, ...(hasOffers ? { offers } : {}) };
  if (era === 'sessionful') return { ...world, client: (await connect({ parts })).client };
  const { modern } = await serveHttp({ parts });
  return { ...world, client: (await openModern(modern('ann'))).client };
}

describe.each(['sessionful', '2026-07-28'] as const)('to a client of %s', (era) => {
  it('all that servers offer is handed on, under their names; a server that is down takes nothing along', async () => {
    const { client, log } = await joinBy(era);
    const { resources } = await client.listResources();
    expect(resources.map(({ uri }) => uri)).toEqual([
      'winnow://notes/note:///a',
      'winnow://notes/note:///b',
      'winnow://my%20tickets/note:///a',
      'winnow://my%20tickets/note:///b',
    ]);
    expect((await client.listResourceTemplates()).resourceTemplates).toMatchObject([
      { uriTemplate: 'winnow://notes/note:///{name}' },
      { uriTemplate: 'winnow://my%20tickets/note:///{name}' },
    ]);
    expect([...new Set(askers)]).toEqual(['ann']);
    const uri = 'winnow://my%20tickets/note:///b';
    expect((await client.readResource({ uri })).contents).toEqual([
      { uri, mimeType: 'text/plain', text: 'the text of note:///b' },
    ]);
    const { prompts } = await client.listPrompts();
    expect(prompts.map(({ name }) => name)).toEqual(['notes__sum_up', 'my_tickets__sum_up']);
    const prompt = await client.getPrompt({ name: 'my_tickets__sum_up', arguments: { note: 'a' } });
    expect(prompt.messages).toMatchObject([{ role: 'user', content: { type: 'text', text: 'Sum up a' } }]);
    const completed = await client.complete({
      ref: { type: 'ref/prompt', name: 'notes__sum_up' },
      argument: { name: 'note', value: 'a' },
    });
    expect(completed.completion.values).toEqual(['alpha']);
    expect(log.text()).toContain('"mcpServer":"broken"');
  });

  it.each(['note:///a', 'winnow://other/note:///a', 'winnow://notes', 'file:///etc/passwd'])(
    'the address %s is of no server',
    async (uri) => {
      const { client } = await joinBy(era);
      const refused = await client.readResource({ uri }).catch((error: unknown) => error);
      expect(refused).toMatchObject({ message: expect.stringContaining(`There is no "${uri}" on any`), data: { uri } });
    },
  );

  it('what a server can not give is an error that names it', async () => {
    const { client } = await joinBy(era);
    await expect(client.getPrompt({ name: 'broken__a' })).rejects.toThrow('The MCP server "broken"');
    await expect(client.getPrompt({ name: 'sum_up' })).rejects.toThrow('There is no "sum_up" on any server.');
  });

  it('nothing is offered where the operator hands nothing on', async () => {
    const { client } = await joinBy(era, false);
    expect(client.getServerCapabilities()).toEqual({ logging: {}, tools: { listChanged: true } });
    await expect(client.readResource({ uri: 'winnow://notes/note:///a' })).rejects.toThrow(
      /does not support|not found/u,
    );
  });
});
