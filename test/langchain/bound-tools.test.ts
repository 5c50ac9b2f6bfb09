import { describe, expect, it } from '@jest/globals';
import { tool } from '@langchain/core/tools';
import { z } from 'zod';
import { z as z3 } from 'zod/v3';
import { toTools } from '../../src/langchain/bound-tools.js';

const input = { type: 'object' as const, properties: { n: { type: 'integer' as const, default: 5 } } };
const named = { name: 'count', description: 'Counts.', metadata: { risk: 'low', owner: 'ann' } };
const run = async () => '';
// Under exactOptionalPropertyTypes the types of zod 3 do not fit those of LangChain.
const withZod3 = (schema: object) => Reflect.apply(tool, undefined, [run, { ...named, schema }]);

describe('a bound tool', () => {
  it.each([
    ['zod 4', tool(run, { ...named, schema: z.object({ n: z.int().default(5) }) })],
    ['zod 3', withZod3(z3.object({ n: z3.number().int().default(5) }))],
    ['JSON Schema', tool(run, { ...named, schema: input })],
    ['a function in the form of OpenAI', { type: 'function', function: { ...named, parameters: input } }],
  ])('of %s is a tool with its texts, and what has a default may be left out', (_, bound) => {
    const [made] = toTools([bound]);
    expect(made).toMatchObject({ name: 'count', description: 'Counts.', toolType: 'builtin' });
    expect(made?.inputSchema).toMatchObject({ properties: { n: { type: 'integer', default: 5 } } });
    expect(made?.inputSchema.required ?? []).toEqual([]);
  });

  it('keeps what its metadata says of its risk', () => {
    const [made] = toTools([tool(run, { ...named, schema: z.object({}) })]);
    expect(made).toMatchObject({ risk: 'low', metadata: { owner: 'ann' } });
  });

  it('without parameters takes none', () => {
    expect(toTools([{ type: 'function', function: { name: 'now' } }])).toMatchObject([
      { inputSchema: { type: 'object' } },
    ]);
  });

  it.each([
    ['of the provider', { type: 'web_search' }, 'web_search'],
    ['without a name', { type: 'function', function: {} }, 'function'],
  ])('%s is refused with what to do', (_, bound, name) => {
    expect(() => toTools([bound])).toThrow(
      expect.objectContaining({
        code: 'invalid_option',
        message: expect.stringMatching(`"${name}".*give LangChain tools`),
      }),
    );
  });
});
