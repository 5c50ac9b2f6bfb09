import { describe, expect, it } from '@jest/globals';
import { StructuredTool, tool } from '@langchain/core/tools';
import { z } from 'zod';
import { z as zod3 } from 'zod/v3';
import { findJsonProblem, parseReading, toolsFromLangChain } from '../../../../src/core/catalog/sources/entries.js';
import { createReading } from '../../../../src/core/catalog/sources/source.js';

describe('a schema', () => {
  it.each([
    ['an empty object', {}],
    ['an unknown type name', { type: 'dict' }],
    ['a list of types', { type: ['string', 'null'] }],
    ['a boolean schema inside', { type: 'object', properties: { any: true } }],
    ['properties named type and properties', { properties: { type: { type: 'string' }, properties: {} } }],
    ['old-style required', { properties: { a: { type: 'string', required: true } } }],
    ['unknown keywords', { 'x-order': 1, nullable: true }],
    ['an impossible form deep inside', { properties: { a: { type: 5 } } }],
  ])('is usable with %s', (_, inputSchema) => {
    const { tools } = parseReading(createReading([{ origin: 'o', entries: [{ name: 'a', inputSchema }] }]));
    expect(tools).toMatchObject([{ tool: { inputSchema } }]);
  });
});

describe('a value that JSON can not hold', () => {
  const circle: Record<string, unknown> = {};
  circle.left = circle;
  circle.right = [circle];
  let deep: unknown = 1;
  for (let level = 0; level < 100_000; level++) deep = [deep];

  it.each([
    ['a circle', circle],
    ['bottomless nesting', deep],
    ['a big integer', { a: 1n }],
  ])('is found: %s', (_, value) => {
    expect(findJsonProblem(value)).toContain('not JSON');
  });

  it('is not confused with a part that is used twice', () => {
    const shared = { type: 'string' };
    expect(findJsonProblem({ a: shared, b: [shared, shared] })).toBeUndefined();
  });
});

describe('a tool of another interface', () => {
  const inputSchema = { type: 'object', properties: { city: { type: 'string' } } };
  const named = { name: 'weather', description: 'The weather.' };
  const read = (entry: unknown) => parseReading(createReading([{ origin: 'o', entries: [entry] }])).tools[0]?.tool;

  it.each([
    ['of OpenAI', { type: 'function', risk: 'low', function: { ...named, strict: true, parameters: inputSchema } }],
    ['of OpenAI without its wrapping', { ...named, risk: 'low', strict: true, parameters: inputSchema }],
    ['of Anthropic', { ...named, risk: 'low', strict: true, input_schema: inputSchema }],
  ])('%s is read as an entry, with what else it says', (_name, entry) => {
    expect(read(entry)).toMatchObject({ ...named, inputSchema, risk: 'low', metadata: { strict: true } });
  });

  it.each([
    ['with a schema of its own beside', { ...named, inputSchema, parameters: { type: 'object' } }, inputSchema],
    ['whose parameters are no schema', { ...named, parameters: ['city'] }, { type: 'object' }],
    ['whose type is something else', { ...named, type: 'function' }, { type: 'object' }],
  ])('%s stays as it is', (_name, { name, description: __, ...rest }, expected) => {
    const { inputSchema: ___, ...others } = { inputSchema, ...rest };
    expect(read({ name, ...rest })).toMatchObject({ inputSchema: expected, metadata: others });
  });
});

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
