import { describe, expect, it } from '@jest/globals';
import { fittedSchemas } from '../../../src/core/planning/fitted.js';
import { renderTool, renderTools } from '../../../src/core/planning/render-tool.js';
import { createTool } from '../../support/create-tool.js';
import { FIXTURES, loadFixture } from '../../support/fixtures.js';
import { factsOf } from '../../support/schema-facts.js';

const read = createTool(
  'read_level',
  { properties: { stcd: { type: 'string', description: 'Code of the station.' } }, required: ['stcd'] },
  { type: 'object', properties: { level: { type: 'number', description: 'In metres.' } } },
  {
    description: 'Read the\nwater level.',
    preconditions: ['the station is known'],
    instructions: 'First this.\nThen that.\n',
  },
);

describe('renderTool', () => {
  it('shows all that planning needs of a tool', () => {
    expect(renderTool(read)).toBe(
      [
        'read_level: Read the water level.',
        '   arguments: {stcd: string /* Code of the station. */}',
        '   returns: {level?: number /* In metres. */}',
        '   before: the station is known',
        '   instructions:',
        'First this.',
        'Then that.',
      ].join('\n'),
    );
  });

  it('says so where the result is not described', () => {
    expect(renderTool(createTool('stop'))).toBe('stop: \n   arguments: object\n   returns: not described');
  });

  it.each<[string, Record<string, unknown>, string[]]>([
    [
      'apart from the required ones',
      { required: ['stcd'] },
      ['   arguments: {stcd: string}', '   optional, only where the request asks for it: {days: integer}'],
    ],
    [
      'as what the request speaks of, where nothing is required',
      {},
      ['   arguments, each where the request speaks of it: {stcd: string, days: integer}'],
    ],
  ])('shows optional arguments %s', (_, required, expected) => {
    const properties = { stcd: { type: 'string' }, days: { type: 'integer' } };
    const lines = renderTool(createTool('read', { properties, ...required })).split('\n');
    expect(lines.filter((line) => !line.startsWith('read') && !line.includes('returns'))).toEqual(expected);
  });

  it('numbers tools in the order of the selection', () => {
    const lines = renderTools([createTool('b'), createTool('a')]).split('\n');
    expect(lines.filter((line) => /^\d/u.test(line))).toEqual(['1. b: ', '2. a: ']);
  });

  it.each(FIXTURES)('loses nothing that the schemas of %s say', async (name) => {
    const { catalog } = await loadFixture(name);
    const lost = catalog.tools.flatMap((tool) => {
      const text = renderTool(tool);
      const { input, output } = fittedSchemas(tool);
      const facts = [...factsOf(input, `${tool.name} arguments`), ...factsOf(output, `${tool.name} returns`)];
      return facts
        .filter((fact) => !text.includes(fact.text))
        .map(({ place, kind, text: said }) => `${place} ${kind}: ${said}`);
    });
    expect(lost).toEqual([]);
  });

  it.each(FIXTURES)('needs at most three quarters of the characters of the JSON for %s', async (name) => {
    const { catalog } = await loadFixture(name);
    const json = catalog.tools.reduce(
      (sum, tool) => sum + JSON.stringify([tool.inputSchema, tool.outputSchema]).length,
      0,
    );
    const text = catalog.tools.reduce((sum, tool) => sum + renderTool(tool).length, 0);
    expect(text).toBeLessThan(json * 0.75);
  });
});
