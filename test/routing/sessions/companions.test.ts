/** What comes along with an enabled tool: as far as it goes, and never past the policy. */
import { describe, expect, it } from '@jest/globals';
import { createCatalog } from '../../../src/core/catalog/catalog.js';
import { createScope } from '../../../src/core/catalog/scope.js';
import { companionsOf } from '../../../src/routing/sessions/companions.js';
import { createTool } from '../../support/create-tool.js';
import { setUp } from '../setup.js';

const related = (name: string, ...names: string[]) => createTool(name, {}, undefined, { relatedTools: names });
const CHAIN = [related('a', 'b'), related('b', 'c', 'a'), related('c', 'd', 'missing'), related('d')];

const step = (name: string, needed: string, returned: string) =>
  createTool(
    name,
    { properties: { [needed]: { type: 'string' } }, required: [needed] },
    { type: 'object', properties: { [returned]: { type: 'string' }, price: { type: 'number' } } },
    { risk: 'low' },
  );
const HOTELS = [
  step('find_city', 'name', 'city_id'),
  step('list_hotels', 'city_id', 'hotel_id'),
  step('hotel_prices', 'hotel_id', 'currency'),
];

describe('companions', () => {
  it('are those of companions, too, each once and told for what it came along', () => {
    const view = createScope(createCatalog(CHAIN))({});
    const [first] = CHAIN;
    const companions = companionsOf(first ? [first] : [], new Set(['d']), { view, isShown: () => true });
    expect(companions.map(({ tool, via, serves }) => [tool.name, via, serves])).toEqual([
      ['b', 'related', 'a'],
      ['c', 'related', 'b'],
    ]);
  });

  it('that the caller must not know of bring nothing along, in whose answer they would be named', async () => {
    const rules = [{ name: 'no b', match: { tool: 'b' }, decision: 'deny' as const }];
    const { router, setPolicy } = setUp({ tools: CHAIN, policy: { rules } });
    const { id } = await router.createSession();
    expect(await router.enable(id, { names: ['a'] })).toMatchObject({ related_tools: [], not_added: [] });
    setPolicy({});
    expect((await router.session(id)).enabled.map(({ name }) => name)).toEqual(['a']);
  });

  it('that produce what a denied producer would need are not told either', async () => {
    const rules = [{ name: 'no hotels', match: { tool: 'list_hotels' }, decision: 'deny' as const }];
    const { router, setPolicy } = setUp({ tools: HOTELS, policy: { rules } });
    const { id } = await router.createSession();
    expect(await router.enable(id, { names: ['hotel_prices'] })).toMatchObject({ related_tools: [], not_added: [] });
    setPolicy({});
    expect((await router.enable(id, { names: ['hotel_prices'] })).related_tools).toMatchObject([
      { name: 'find_city', serves: 'list_hotels.city_id' },
      { name: 'list_hotels', serves: 'hotel_prices.hotel_id' },
    ]);
  });

  it('that are refused for now are not enabled behind their refusal', async () => {
    const tools = [related('a', 'deploy'), createTool('deploy', {}, undefined, { risk: 'high' })];
    const { router, setPolicy } = setUp({ tools, policy: { riskCeiling: 'medium' } });
    const { id } = await router.createSession();
    expect((await router.enable(id, { names: ['a'] })).not_added).toMatchObject([
      { name: 'deploy', code: 'too_risky' },
    ]);
    setPolicy({});
    expect(await router.call(id, { tool: 'deploy' })).toMatchObject({ code: 'not_enabled' });
  });
});
