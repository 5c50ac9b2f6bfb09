import { describe, expect, it } from '@jest/globals';
import { StructuredTool, tool } from '@langchain/core/tools';
import { z } from 'zod';
import { z as zod3 } from 'zod/v3';
import { toolsFromLangChain } from '../../../../src/core/catalog/sources/langchain.js';

const run = async () => 'done';

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
    expect(made?.inputSchema).toEqual({ type: 'object', properties: { input: { type: 'string' } } });
  });

  it('facts for Winnow are taken from the metadata, the others stay there', () => {
    const metadata = { risk: 'high', category: 'files', keywords: ['rm'], owner: 'ops' };
    const remove = tool(run, { name: 'remove', description: 'Removes a file.', schema: citySchema, metadata });
    expect(toolsFromLangChain([remove], { origin: 'my-agent' })).toMatchObject([
      { risk: 'high', category: 'files', keywords: ['rm'], metadata: { owner: 'ops' }, origin: 'my-agent' },
    ]);
  });

  it('a schema of zod 3 is refused with the way to convert it', () => {
    const old = { name: 'old', description: 'd', schema: zod3.object({ a: zod3.string() }) };
    expect(() => toolsFromLangChain([old])).toThrow(
      expect.objectContaining({ code: 'invalid_catalog', message: expect.stringMatching(/"old".*toJsonSchema/) }),
    );
  });

  it('a tool that a catalogue can not hold is refused by name', () => {
    const bad = tool(run, { name: '__proto__', description: 'd', schema: citySchema });
    expect(() => toolsFromLangChain([bad])).toThrow(
      expect.objectContaining({ code: 'invalid_catalog', issues: [expect.stringContaining('__proto__')] }),
    );
  });
});
