/** What is always on for a user was learnt, not allowed: the policy decides on it as on all else. */
import { describe, expect, it } from '@jest/globals';
import { setUp } from '../setup.js';

const NO_LISTS = { rules: [{ name: 'no lists', match: { tool: 'file_list' }, decision: 'deny' as const }] };
const alwaysOn = (user: string) => (user === 'ann' ? ['file_list', 'deploy'] : []);

describe('what was approved as always on', () => {
  it('is there for its user alone', async () => {
    const { router } = setUp({ alwaysOn });
    const enabledFor = async (user: string) =>
      (await router.createSession({ user })).enabled.map(({ name, via }) => `${name} ${via}`);
    expect(await enabledFor('ann')).toEqual(['ask_user always', 'file_list learnt', 'deploy learnt']);
    expect(await enabledFor('bob')).toEqual(['ask_user always']);
  });

  it('is hidden where the policy denies it, refused above the ceiling, and approved where its risk is high', async () => {
    const { router, setPolicy } = setUp({ alwaysOn, policy: NO_LISTS });
    const { id } = await router.createSession({ user: 'ann' });
    const { matches } = await router.search(id, { query: 'x' });
    const shown = [...(await router.session(id)).enabled, ...matches].map(({ name }) => name);
    expect(shown).toContain('deploy');
    expect(shown).not.toContain('file_list');
    expect(await router.call(id, { tool: 'file_list' })).toMatchObject({ code: 'unknown_tool' });
    expect(await router.call(id, { tool: 'deploy' })).toMatchObject({ code: 'needs_approval' });
    setPolicy({ riskCeiling: 'medium' });
    expect(await router.call(id, { tool: 'deploy' })).toMatchObject({ code: 'too_risky' });
  });
});
