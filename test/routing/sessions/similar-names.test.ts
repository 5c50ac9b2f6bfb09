import { describe, expect, it } from '@jest/globals';
import { similarNames } from '../../../src/routing/sessions/similar-names.js';
import { setUp } from '../setup.js';

const KNOWN = ['weather_forecast', 'weather_now', 'send_email', 'git_log', 'get_log', 'log'];

describe('similar names', () => {
  it.each([
    ['wether_forecast', ['weather_forecast']],
    ['WEATHER_NOW', ['weather_now']],
    ['weather', ['weather_forecast', 'weather_now']],
    ['now weather', ['weather_now']],
    ['send_email_message', ['send_email']],
    ['git_lgo', ['git_log', 'get_log']],
    ['lo', []],
    ['calendar', []],
    ['', []],
  ])('of "%s"', (name, names) => {
    expect(similarNames(name, KNOWN)).toEqual(names);
  });

  it('are three at most', () => {
    expect(similarNames('tool', ['tool_a', 'tool_b', 'tool_c', 'tool_d'])).toHaveLength(3);
  });
});

describe('a name that is not known', () => {
  it('is answered with those that may be meant, of what the caller may find alone', async () => {
    const { router, setPolicy } = setUp();
    const { id } = await router.createSession({ user: 'ann' });
    const nextOf = async (name: string) => {
      const { rejected } = await router.enable(id, { names: [name] });
      expect(rejected).toMatchObject([{ name, code: 'unknown_tool' }]);
      return rejected[0]?.next ?? '';
    };
    expect(await nextOf('file_raed')).toContain('"file_read" may be meant');
    expect(await nextOf('diaryy')).not.toContain('diary"');
    expect(await nextOf('zzz')).not.toContain('meant');
    setPolicy({ rules: [{ name: 'no files', match: { tool: 'file_*' }, decision: 'deny' }] });
    expect(await nextOf('file_raed')).not.toContain('file_read');
  });

  it('says no more of a tool that is denied than of one that does not exist', async () => {
    const { router } = setUp({ policy: { rules: [{ name: 'x', match: { tool: 'lsp_open' }, decision: 'deny' }] } });
    const { id } = await router.createSession({ user: 'ann' });
    const { rejected } = await router.enable(id, { names: ['lsp_open', 'lsp_opem'] });
    const [denied, unknown] = rejected.map(({ name, ...one }) => JSON.stringify(one).replaceAll(name, 'NAME'));
    expect(denied).toBe(unknown);
  });
});
