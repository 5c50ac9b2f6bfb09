/** llama.cpp itself reads the grammars of real tools. No weights are needed, but the native binary is. */
import { getLlama, type Llama } from 'node-llama-cpp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { normaliseArguments } from '../../../../src/core/catalog/schema/normalise.js';
import type { JsonSchema } from '../../../../src/core/catalog/tool.js';
import { gbnfFromSchema } from '../../../../src/core/model/embedded/gbnf.js';
import { benchmarksAreThere, loadBenchmarkTools, whereBenchmarks } from '../../../support/benchmarks.js';

let llama: Llama;

beforeAll(async () => {
  llama = await getLlama({ build: 'never', gpu: false, maxThreads: 2 });
});
afterAll(() => llama.dispose());

/** Names of those whose grammar llama.cpp refuses. */
async function refused(schemas: ReadonlyMap<string, JsonSchema>): Promise<string[]> {
  const names: string[] = [];
  for (const [name, schema] of schemas) {
    const grammar = gbnfFromSchema(schema);
    await llama.createGrammar({ grammar }).catch(() => names.push(name));
  }
  return names;
}

describe('llama.cpp', () => {
  it('refuses a grammar that is none', async () => {
    await expect(llama.createGrammar({ grammar: 'root ::= nowhere' })).rejects.toThrow();
  });

  it('takes grammars with every form of rule', async () => {
    const scalars = {
      date: { type: 'string', format: 'date' },
      time: { type: 'string', format: 'time' },
      moment: { type: 'string', format: 'date-time' },
      short: { type: 'string', minLength: 1, maxLength: 12 },
      word: { enum: ['a "quoted" one', '盘石头', 'back\\slash', 'line\nbreak'] },
      number: { type: ['number', 'null'] },
      count: { type: 'integer', minimum: 0 },
      flag: { type: 'boolean' },
    };
    const lists = {
      list: { type: 'array', items: { type: 'string' }, minItems: 1, maxItems: 5 },
      tuple: {
        type: 'array',
        prefixItems: [{ type: 'string' }, { type: 'integer' }],
        items: { type: 'null' },
        minItems: 1,
      },
      anything: {},
      map: { type: 'object', additionalProperties: { $ref: '#/$defs/tree' } },
      'odd "name"': { anyOf: [{ type: 'string' }, { $ref: '#/$defs/tree' }] },
    };
    const children = { type: 'array', items: { $ref: '#/$defs/tree' } };
    const schema = {
      type: 'object',
      properties: { ...scalars, ...lists },
      required: ['count', 'map'],
      $defs: { tree: { type: 'object', properties: { children } } },
    };
    expect(await refused(new Map([['all forms', schema]]))).toEqual([]);
  });

  (benchmarksAreThere ? it : it.skip).each(['realmcp', 'nestful', 'bfcl', 'acebench_zh', 'restbench'])(
    `takes the grammar of every tool of %s${whereBenchmarks}`,
    async (set) => {
      const tools = loadBenchmarkTools(set).map(
        ({ name, inputSchema }) => [name, normaliseArguments(inputSchema).schema] as const,
      );
      expect(await refused(new Map(tools))).toEqual([]);
    },
  );
});
