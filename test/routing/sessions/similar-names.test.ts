import { describe, expect, it } from '@jest/globals';
import { setUp } from '../setup.js';

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
