import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { firstSentence, renderSummary, SUMMARY_STYLES } from '../../../src/core/catalog/summary.js';
import { parseTool } from '../../../src/core/catalog/tool.js';
import { oneLine } from '../../../src/core/visible-text.js';
import { anyCharacter } from '../../support/any-character.js';
import { createTool } from '../../support/create-tool.js';
import { FIXTURES, loadFixture } from '../../support/fixtures.js';

const tool = createTool('read_level', {}, undefined, {
  category: 'water',
  description: 'Read the\n level. In metres.',
});

describe('a summary', () => {
  it.each([
    ['whole', '- read_level [water]: Read the level. In metres.'],
    ['sentence', '- read_level [water]: Read the level.'],
    ['names', '- read_level'],
  ] as const)('in the style %s', (style, line) => {
    expect(renderSummary(tool, style)).toBe(line);
  });

  it.each([
    ['a category', createTool('a', {}, undefined, { description: 'Does.' }), '- a: Does.'],
    ['a description', createTool('a', {}, undefined, { category: 'c' }), '- a [c]'],
    ['both', createTool('a'), '- a'],
    ['a description that is more than space', createTool('a', {}, undefined, { description: ' \n\t ' }), '- a'],
  ])('stands for a tool without %s', (_, one, line) => {
    expect(renderSummary(one, 'whole')).toBe(line);
    expect(renderSummary(one, 'sentence')).toBe(line);
  });

  it('stands for a function that has neither schema nor description', () => {
    const parsed = parseTool({ name: 'bare' }, { origin: 'f', index: 0 });
    expect(parsed.ok && renderSummary(parsed.tool, 'whole')).toBe('- bare');
  });

  it.each(SUMMARY_STYLES)('in the style %s is one line, whatever the description holds', (style) => {
    const text = fc.string({
      unit: fc.oneof(
        fc.constantFrom('\n', '\r', '\u2028', '\u2029', '\u0085', '\u0000', '\u001b', '. ', '。', ' '),
        fc.string({ unit: anyCharacter, maxLength: 3 }),
      ),
    });
    fc.assert(
      fc.property(text, text, (description, category) => {
        const line = renderSummary(createTool('a', {}, undefined, { description, category }), style);
        expect(line).not.toMatch(/[\n\r\u2028\u2029\p{Cc}]/u);
        expect(line.startsWith('- a')).toBe(true);
      }),
    );
  });

  it.each(FIXTURES)('of each tool of %s is one line, in the order of the catalogue', async (name) => {
    const { catalog } = await loadFixture(name);
    for (const style of SUMMARY_STYLES) {
      const lines = catalog.tools.map((tool) => renderSummary(tool, style));
      expect(lines.map((line) => /^- ([^ :]+)/u.exec(line)?.[1])).toEqual(catalog.tools.map((one) => one.name));
    }
  });
});

describe('the first sentence', () => {
  it.each([
    ['One. Two.', 'One.'],
    ['Is it? Yes.', 'Is it?'],
    ['Stop! Now.', 'Stop!'],
    ['查询水位。按站码。', '查询水位。'],
    ['查询水位！然后', '查询水位！'],
    ['是否？然后', '是否？'],
    ['No end', 'No end'],
    ['Ends here.', 'Ends here.'],
    ['Version 1.5 of it. More.', 'Version 1.5 of it.'],
    ['Reads file.txt at once. More.', 'Reads file.txt at once.'],
    ['Uses about 5. 6 is too much. More.', 'Uses about 5. 6 is too much.'],
    ['Finds places, e.g. cafes. More.', 'Finds places, e.g. cafes.'],
    ['Finds places, e.g. Paris. More.', 'Finds places, e.g. Paris.'],
    ['One of many, i.e. "this". More.', 'One of many, i.e. "this".'],
    ['Compares A vs. B at once. More.', 'Compares A vs. B at once.'],
    ['Visit www.example.org/a?b=c now. More.', 'Visit www.example.org/a?b=c now.'],
    ['', ''],
  ])('of "%s"', (text, sentence) => {
    expect(firstSentence(text)).toBe(sentence);
  });

  it('is a beginning of the text that is not empty where the text is not', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }).map(oneLine), (text) => {
        const sentence = firstSentence(text);
        expect(text.startsWith(sentence)).toBe(true);
        expect(sentence === '').toBe(text === '');
      }),
    );
  });
});
