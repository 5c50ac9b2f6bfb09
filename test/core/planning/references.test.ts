import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findBroken, findReferences, renderPath, textsIn } from '../../../src/core/planning/references.js';

describe('findReferences', () => {
  it.each([
    ['${s1.stcd}', 's1', ['stcd']],
    ['${s12}', 's12', []],
    ['${s1.items[0].id}', 's1', ['items', 0, 'id']],
    ['${s1[2]}', 's1', [2]],
    ['${s1.items.0.id}', 's1', ['items', 0, 'id']],
    ['${s2.水位}', 's2', ['水位']],
    ['${s2.created-at}', 's2', ['created-at']],
    ["${s1['@odata.count']}", 's1', ['@odata.count']],
    ['${s1.items[0]["unit price"].value}', 's1', ['items', 0, 'unit price', 'value']],
    ["${s1['0']}", 's1', ['0']],
  ])('reads %s, which stands alone and so keeps its type', (text, step, path) => {
    expect(findReferences(text)).toEqual([{ text, step, path, whole: true }]);
  });

  it('reads several inside a text, none of which is the whole', () => {
    const found = findReferences('From ${s1.name} to ${s2.items[0].name}.');
    expect(found).toEqual([
      { text: '${s1.name}', step: 's1', path: ['name'], whole: false },
      { text: '${s2.items[0].name}', step: 's2', path: ['items', 0, 'name'], whole: false },
    ]);
  });

  it('takes a space beside it for a text around it', () => {
    expect(findReferences(' ${s1.name}')[0]?.whole).toBe(false);
  });

  it.each(['', 'plain', '$s1.name', '{s1.name}', '${HOME}', 's1.name', '${1.name}'])('finds none in "%s"', (text) => {
    expect(findReferences(text)).toEqual([]);
  });
});

describe('findBroken', () => {
  it.each([
    '${s1.}',
    '${s1..a}',
    '${s1.a b}',
    '${s1[x]}',
    '${s1[*].id}',
    '${ s1.a }',
    '${s1.a',
    '${steps.s1.a}',
    '${s1.a[0}',
    '${step1.a}',
    '${Step_2.a}',
  ])('tells that %s is no reference', (text) => {
    expect(findReferences(text)).toEqual([]);
    expect(findBroken(`before ${text}`)).toHaveLength(1);
  });

  it.each(['${HOME}/bin', '${AWS_S3_BUCKET}', 'costs $5', '`${name}`', '${s1.a} and ${s2[0].b}', ''])(
    'leaves "%s" alone',
    (text) => {
      expect(findBroken(text)).toEqual([]);
    },
  );
});

describe('findBroken, of a text that is nothing else', () => {
  it.each([
    '$s1.stcd',
    '{{s1.stcd}}',
    '{{ s1.stcd }}',
    '{s1.stcd}',
    '<s1.stcd>',
    '%s1.stcd%',
    '$(s1.stcd)',
    '$.s1.stcd',
    '${find.id}',
    '${s 1.id}',
    '${find_station.stcd}',
    '${find_station[0].stcd}',
    '${steps[0].stcd}',
    '${result.stcd}',
    '${previous.stcd}',
    '{{s1}}',
  ])('tells that %s is no reference', (text) => {
    expect(findBroken(text)).toEqual([text]);
  });

  it.each([
    'Dear {{name}}, 5 < 6 and 7 > 3',
    '<b>find</b> at 5% of s1.txt, 10% off',
    '${HOME}/bin $PATH $5',
    'the {find} of ${result.x} here',
    'a.b',
    '{{customer.name}}',
    '{"s1": 1}',
  ])('leaves %s alone', (text) => {
    expect(findBroken(text)).toEqual([]);
  });
});

describe('renderPath', () => {
  const name = fc.stringMatching(/^[^'{}\n\r]{1,6}$/u).filter((text) => !/^\d+$/u.test(text));
  it('is read back as the same field, whatever it is called', () => {
    fc.assert(
      fc.property(fc.array(name, { minLength: 1, maxLength: 4 }), fc.nat(9), (names, index) => {
        const path = [...names.slice(0, 1), index, ...names.slice(1)];
        const rendered = renderPath(path);
        const text = `\${s1${rendered.startsWith('[') ? '' : '.'}${rendered}}`;
        expect(findReferences(text)).toMatchObject([{ path, whole: true }]);
        expect(findBroken(text)).toEqual([]);
      }),
    );
  });
});

describe('textsIn', () => {
  it('finds every text with the way to it', () => {
    const value = { a: 'one', list: ['two', { b: 'three' }, 4, null, true], empty: {} };
    const found = textsIn(value).map(({ path, text }) => `${renderPath(path)} ${text}`);
    expect(found).toEqual(['a one', 'list[0] two', 'list[1].b three']);
  });
});
