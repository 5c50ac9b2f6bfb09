import { describe, expect, it } from '@jest/globals';
import { createCatalog } from '../../src/catalog/catalog.js';
import { createScope } from '../../src/catalog/scope.js';
import { addPrivateTool, withPrivateTools } from '../../src/routing/private-tools.js';
import { createMemoryStore } from '../../src/store/memory/memory-store.js';
import { createTool } from '../support/create-tool.js';

describe('private tools', () => {
  it("are their user's alone, whatever the entry says", async () => {
    const { privateTools } = createMemoryStore();
    const entry = { name: 'mail', toolType: 'skill', scope: 'system', origin: 'official', alwaysLoad: true };
    await addPrivateTool(privateTools, 'ann', { entry });
    const { catalog, issues } = await withPrivateTools(createCatalog([createTool('read')]), privateTools);
    expect(issues).toEqual([]);
    const namesOf = (user: string) => createScope(catalog)({ user }).tools.map(({ name }) => name);
    expect(namesOf('ann')).toEqual(['read', 'mail']);
    expect(namesOf('bob')).toEqual(['read']);
    expect(catalog.tools[1]).toMatchObject({ origin: 'user:ann', alwaysLoad: false, scope: { user: 'ann' } });
  });

  it.each([
    ['without a name', { toolType: 'skill' }, 'name'],
    ['of an unknown type', { name: 'a', toolType: 'magic' }, 'magic'],
    ['that are no object', null, 'name'],
  ])('%s are refused', async (_, entry, word) => {
    const { privateTools } = createMemoryStore();
    await expect(addPrivateTool(privateTools, 'ann', { entry })).rejects.toMatchObject({
      code: 'invalid_request',
      message: expect.stringContaining(word),
    });
    expect(await privateTools.list()).toEqual([]);
  });

  it('that are no longer readable are reported and left out', async () => {
    const { privateTools } = createMemoryStore();
    await privateTools.put({ owner: 'ann', name: 'old', content: { nothing: true }, updatedAt: '' });
    const { catalog, issues } = await withPrivateTools(createCatalog([]), privateTools);
    expect(catalog.tools).toEqual([]);
    expect(issues).toMatchObject([{ entry: 'user:ann[0]' }]);
  });
});
