import { describe, expect, it } from '@jest/globals';
import { StructuredTool, tool } from '@langchain/core/tools';
import { z } from 'zod';
import { z as z3 } from 'zod/v3';
import { toolsFromLangChain } from '../../../src/adapters/langchain/bound-tools.js';

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
    const [made] = toolsFromLangChain([bound]);
    expect(made).toMatchObject({ name: 'count', description: 'Counts.', toolType: 'builtin' });
    expect(made?.inputSchema).toMatchObject({ properties: { n: { type: 'integer', default: 5 } } });
    expect(made?.inputSchema.required ?? []).toEqual([]);
  });

  it('keeps what its metadata says of its risk', () => {
    const [made] = toolsFromLangChain([tool(run, { ...named, schema: z.object({}) })]);
    expect(made).toMatchObject({ risk: 'low', metadata: { owner: 'ann' } });
  });

  it('without parameters takes none', () => {
    expect(toolsFromLangChain([{ type: 'function', function: { name: 'now' } }])).toMatchObject([
      { inputSchema: { type: 'object' } },
    ]);
  });

  it.each([
    ['of the provider', { type: 'web_search' }, 'web_search'],
    ['without a name', { type: 'function', function: {} }, 'function'],
  ])('%s is refused with what to do', (_, bound, name) => {
    expect(() => toolsFromLangChain([bound])).toThrow(
      expect.objectContaining({
        code: 'invalid_option',
        message: expect.stringMatching(`"${name}".*give LangChain tools`),
      }),
    );
  });
});

const citySchema = z.object({ city: z.string().describe('Where.'), days: z.number().int().default(3) });
const cityJson = {
  type: 'object' as const,
  properties: {
    city: { type: 'string', description: 'Where.' },
    days: { default: 3, type: 'integer', minimum: -9007199254740991, maximum: 9007199254740991 },
  },
  required: ['city'],
};

class Forecast extends StructuredTool<typeof citySchema> {
  name = 'forecast';
  description = 'The weather of the next days.';
  schema = citySchema;
  protected async _call() {
    return 'sun';
  }
}

describe('LangChain tools', () => {
  it.each([
    [
      'tool() with zod',
      tool(run, { name: 'forecast', description: 'The weather of the next days.', schema: citySchema }),
    ],
    ['a StructuredTool class', new Forecast()],
    [
      'tool() with JSON Schema',
      tool(run, { name: 'forecast', description: 'The weather of the next days.', schema: cityJson }),
    ],
  ])('%s becomes a tool with the arguments as its caller writes them', (_, langchainTool) => {
    expect(toolsFromLangChain([langchainTool])).toMatchObject([
      {
        name: 'forecast',
        description: 'The weather of the next days.',
        toolType: 'builtin',
        origin: 'langchain',
        inputSchema: cityJson,
      },
    ]);
  });

  it('a tool that takes a string has the argument "input"', () => {
    const [made] = toolsFromLangChain([tool(run, { name: 'echo', description: 'Says it again.' })]);
    expect(made?.inputSchema).toMatchObject({ type: 'object', properties: { input: { type: 'string' } } });
  });

  it('facts for Winnow are taken from the metadata, the others stay there', () => {
    const metadata = { risk: 'high', category: 'files', keywords: ['rm'], owner: 'ops' };
    const remove = tool(run, { name: 'remove', description: 'Removes a file.', schema: citySchema, metadata });
    expect(toolsFromLangChain([remove], { origin: 'my-agent' })).toMatchObject([
      { risk: 'high', category: 'files', keywords: ['rm'], metadata: { owner: 'ops' }, origin: 'my-agent' },
    ]);
  });

  it('a tool that a catalogue can not hold is refused by name', () => {
    const bad = tool(run, { name: '__proto__', description: 'd', schema: citySchema });
    expect(() => toolsFromLangChain([bad])).toThrow(
      expect.objectContaining({ code: 'invalid_catalog', issues: [expect.stringContaining('__proto__')] }),
    );
  });
});
