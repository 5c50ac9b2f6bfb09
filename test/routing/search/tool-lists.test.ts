import { describe, expect, it } from '@jest/globals';
import type { Tool } from '../../../src/core/catalog/tool.js';
import { listOutputSchema } from '../../../src/routing/contracts.js';
import { callerOf, setUp, TOOLS } from './setup.js';

const namesOf = (output: Awaited<ReturnType<Awaited<ReturnType<typeof setUp>>['handOut']>>) =>
  output.ok ? output.tools.map(({ name }) => name) : output.code;

describe('hand-outs', () => {
  it('classic gives all that the caller may use, with schemas and without an index', async () => {
    const { handOut, index } = await setUp({ index: { rebuildsItself: false } });
    expect(index.status().state).toBe('stale');
    const output = await handOut(
      { mode: 'classic' },
      callerOf(TOOLS, { isAllowed: ({ risk }: Tool) => risk === 'low' }),
    );
    expect(namesOf(output)).toEqual(['git_branch_list', 'git_branch_show', 'file_read']);
    expect(output.ok && output.tools[0]).toMatchObject({ inputSchema: { type: 'object' }, risk: 'low' });
  });

  it('narrow gives the best for a query with their scores, best first', async () => {
    const { handOut } = await setUp();
    const output = await handOut({ mode: 'narrow', query: 'create a branch', top_k: 2 }, callerOf());
    expect(listOutputSchema.parse(output)).toEqual(output);
    expect(namesOf(output)).toHaveLength(2);
    expect(namesOf(output)[0]).toBe('git_branch_create');
    const scores = output.ok ? output.tools.map(({ score = -1 }) => score) : [];
    expect(scores).toEqual([...scores].sort((one, other) => other - one));
    expect(Math.min(...scores)).toBeGreaterThan(0);
  });

  it('narrow leaves out what scores below the minimum', async () => {
    const { handOut } = await setUp();
    const all = await handOut({ mode: 'narrow', query: 'create a branch', min_score: 0 }, callerOf());
    const few = await handOut({ mode: 'narrow', query: 'create a branch', min_score: 0.7 }, callerOf());
    expect(namesOf(few).length).toBeLessThan(namesOf(all).length);
    expect(few.ok && few.tools.every(({ score = 0 }) => score >= 0.7)).toBe(true);
  });

  it('narrow shows nothing that is not allowed', async () => {
    const { handOut } = await setUp();
    const caller = callerOf(TOOLS, { isAllowed: ({ risk }: Tool) => risk === 'low' });
    expect(namesOf(await handOut({ mode: 'narrow', query: 'create a branch', min_score: 0 }, caller))).not.toContain(
      'git_branch_create',
    );
  });

  it.each([
    ['no_candidates', 'nothing matches', async () => (await setUp()).handOut],
    ['index_not_ready', 'the index is stale', async () => (await setUp({ index: { rebuildsItself: false } })).handOut],
    [
      'index_building',
      'the index is being built',
      async () => {
        const { handOut, index } = await setUp({ index: { rebuildsItself: false } });
        void index.rebuild();
        return handOut;
      },
    ],
  ])('narrow answers %s when %s, and gives nothing else instead', async (code, _, make) => {
    const output = await (await make())({ mode: 'narrow', query: 'xylophone' }, callerOf());
    expect(output).toMatchObject({ ok: false, code, reason: expect.any(String), next: expect.any(String) });
    expect(listOutputSchema.parse(output)).toEqual(output);
  });

  it('narrow needs a query', async () => {
    const { handOut } = await setUp();
    await expect(handOut({ mode: 'narrow' }, callerOf())).rejects.toMatchObject({
      code: 'invalid_request',
      issues: [expect.stringMatching(/^query: /u)],
    });
  });
});
