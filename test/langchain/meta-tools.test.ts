import { describe, expect, it } from '@jest/globals';
import { createAgent } from 'langchain';
import { createMetaTools } from '../../src/langchain/index.js';
import { META_TOOLS } from '../../src/routing/meta-tools.js';
import { setUp } from '../routing/setup.js';
import { ScriptedChat } from './scripted-chat.js';
import { answersOf, saying } from './setup.js';

async function createTools() {
  const { router, searched } = setUp();
  const { id } = await router.createSession({ user: 'ann' });
  const [search, enable, disable] = createMetaTools(router, id, { caller: { user: 'ann' } });
  if (!search || !enable || !disable) throw new Error('there are three meta tools');
  return { router, searched, id, search, enable, disable };
}

describe('the meta tools of a session', () => {
  it('have the names and texts of Winnow everywhere', async () => {
    const { search, enable, disable } = await createTools();
    const shown = [search, enable, disable].map(({ name, description }) => [name, description]);
    expect(shown).toEqual(Object.entries(META_TOOLS).map(([name, { description }]) => [name, description]));
  });

  it('search, enable and disable in it, with the JSON of the router', async () => {
    const { router, id, search, enable, disable } = await createTools();
    expect(JSON.parse(await search.invoke({ query: 'read' }))).toMatchObject({ query: 'read', ranked_by: 'rules' });
    const enabled = JSON.parse(await enable.invoke({ names: ['lsp_open', 'diary'], ttl_turns: 2 }));
    expect(enabled).toMatchObject({
      enabled: [{ name: 'lsp_open', expires_after_turns: 2 }],
      rejected: [{ name: 'diary', code: 'unknown_tool' }],
    });
    expect((await router.session(id)).enabled.map(({ name }) => name)).toEqual(['ask_user', 'lsp_open']);
    expect(JSON.parse(await disable.invoke({ names: ['lsp_open'] }))).toEqual({ disabled: ['lsp_open'], rejected: [] });
  });

  it('serve an agent that has no middleware', async () => {
    const { router, id, search, enable, disable } = await createTools();
    const model = new ScriptedChat([{ name: 'tool_enable', args: { names: ['lsp_open'] } }, 'done']);
    const { messages } = await createAgent({ model, tools: [search, enable, disable] }).invoke(saying('go'));
    expect(answersOf(messages)).toMatchObject([{ name: 'tool_enable', content: { enabled: [{ name: 'lsp_open' }] } }]);
    expect((await router.session(id)).enabled).toHaveLength(2);
  });

  it('are cancelled by the signal of the run and by that of the session', async () => {
    const { router, searched } = setUp();
    const { id } = await router.createSession();
    const [outer, inner] = [new AbortController(), new AbortController()];
    const [search] = createMetaTools(router, id, { signal: outer.signal });
    await search?.invoke({ query: 'read' }, { signal: inner.signal });
    const signal = searched[0]?.signal;
    expect(signal?.aborted).toBe(false);
    outer.abort();
    expect(signal?.aborted).toBe(true);
  });

  it("are refused to others: another's session looks like none", async () => {
    const { router } = setUp();
    const { id } = await router.createSession({ user: 'ann' });
    const [search] = createMetaTools(router, id, { caller: { user: 'bob' } });
    await expect(search?.invoke({ query: 'read' })).rejects.toMatchObject({ code: 'not_found' });
  });
});
