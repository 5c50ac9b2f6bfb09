/** What the pages show of a text: a person sees all that is in it. */
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hidesText } from '../../src/core/visible-text.js';
import { anyCharacter } from '../support/any-character.js';

interface FormatModule {
  spellUnseen(text: string): string;
  formatJson(value: unknown): string;
}
const { spellUnseen, formatJson }: FormatModule = await import(
  new URL('../../src/page/format.js', import.meta.url).href
);

const texts = fc.string({
  unit: fc.oneof(
    anyCharacter,
    fc.constantFrom('a', '1', 'क', '❤', '👩', '\u200d', '\u202e', '\ufe0f', '\u20e3', '\u3164'),
  ),
});

describe('a text on a page', () => {
  it.each([
    ['a mark that turns the direction', 'evil\u202egpj.exe', 'evil\\u{202e}gpj.exe'],
    ['tag characters', 'a\u{e0041}', 'a\\u{e0041}'],
    ['a zero width', 'a\u200bb', 'a\\u{200b}b'],
    ['a filler', 'a\u3164', 'a\\u{3164}'],
    ['a joiner that only hides', '/a\u200db', '/a\\u{200d}b'],
    ['joiners inside words and emoji', 'می\u200cخواهم 👩\u200d🚀', 'می\u200cخواهم 👩\u200d🚀'],
    ['a joiner behind what is not seen', '\ufe0f\u200da', '\\u{fe0f}\\u{200d}a'],
    ['lines', 'a\r\nb\n\tc', 'a\r\nb\n\tc'],
  ])('shows %s', (_, text, shown) => {
    expect(spellUnseen(text)).toBe(shown);
  });

  it('has the expressions of the planner for what is not seen', () => {
    const written = ['src/core/visible-text.ts', 'src/page/format.js'].map((path) =>
      readFileSync(path, 'utf8').match(/(?<=^(?:export )?)const (?:HIDDEN|SIGN|SELECTOR|JOINER|UNSEEN) = .*$/gmu),
    );
    expect(written[0]).toHaveLength(5);
    expect(written[1]).toEqual(written[0]);
  });

  it('spells what the planner would take out of the text of a tool, and nothing else', () => {
    fc.assert(
      fc.property(texts, (text) => {
        const bare = text.replace(/[\r\u0085\u2028\u2029]/gu, '');
        expect(spellUnseen(bare) !== bare).toBe(hidesText(bare));
        expect(hidesText(spellUnseen(bare))).toBe(false);
      }),
      { numRuns: 1_000 },
    );
  });

  it('is the same value again after it was edited as JSON, in which all is seen', () => {
    fc.assert(
      fc.property(texts, (text) => {
        const json = formatJson({ [text]: [text] });
        expect(JSON.parse(json)).toEqual({ [text]: [text] });
        expect(spellUnseen(json)).toBe(json);
      }),
    );
  });
});
