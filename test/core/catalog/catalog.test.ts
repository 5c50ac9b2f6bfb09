/** A catalogue: its tools, its rules and its summaries. */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createCatalog, fingerprintOf, toolHash } from '../../../src/core/catalog/catalog.js';
import { ruleSchema } from '../../../src/core/catalog/rule.js';
import { firstSentence, renderSummary, SUMMARY_STYLES } from '../../../src/core/catalog/summary.js';
import type { Tool } from '../../../src/core/catalog/tool.js';
import { oneLine } from '../../../src/core/visible-text.js';
import { anyCharacter } from '../../support/any-character.js';
import { createTool } from '../../support/create-tool.js';

const from = (origin: string, name: string, user?: string) =>
  createTool(name, {}, undefined, { origin, ...(user === undefined ? {} : { scope: { user } }) });

describe('a catalogue', () => {
  it('holds the tools in their order, under a name', () => {
    const catalog = createCatalog([from('a', 'two'), from('a', 'one')], { name: 'mine' });
    expect(catalog).toMatchObject({ name: 'mine', tools: [{ name: 'two' }, { name: 'one' }], rules: [] });
    expect(createCatalog([]).name).toBe('catalog');
  });

  it.each([
    ['two system tools', [from('a.json', 'x'), from('b.json', 'x')]],
    ['two tools of one user', [from('a.json', 'x', 'ann'), from('b.json', 'x', 'ann')]],
  ])('refuses %s of one name, and names both sources', (_, tools) => {
    const issue = 'two tools are named "x": a.json and b.json';
    expect(() => createCatalog(tools)).toThrow(
      expect.objectContaining({ code: 'invalid_catalog', issues: [issue], message: expect.stringContaining(issue) }),
    );
  });

  it.each<[string, unknown]>([
    ['plain', { name: 'a', description: '', inputSchema: {} }],
    ['with a scope and facts', { name: 'a', description: '', inputSchema: {}, scope: 'system', metadata: {} }],
    ['with a scope that is none', { ...createTool('a'), scope: null }],
  ])('refuses an entry that nobody made a tool of, and says what does: %s', (_, entry) => {
    const tools = [createTool('b'), entry as Tool];
    expect(() => createCatalog(tools)).toThrow('tools[1] ("a") is an entry and no tool: loadCatalog(');
  });

  it('refuses what is nothing', () => {
    expect(() => createCatalog([undefined as unknown as Tool])).toThrow('tools[0] is an entry and no tool');
  });

  it('tells of all clashes at once', () => {
    const tools = ['x', 'y'].flatMap((name) => [from('a', name), from('b', name)]);
    expect(() => createCatalog(tools)).toThrow(
      expect.objectContaining({ issues: [expect.stringContaining('"x"'), expect.stringContaining('"y"')] }),
    );
  });

  it.each([
    ['a system tool and a private one', [from('a', 'x'), from('b', 'x', 'ann')]],
    ['private tools of two users', [from('a', 'x', 'ann'), from('b', 'x', 'bob')]],
    ['names that differ in case', [from('a', 'x'), from('b', 'X')]],
  ])('takes %s', (_, tools) => {
    expect(createCatalog(tools).tools).toHaveLength(2);
  });

  it('can not be changed, nor by the list it was made from', () => {
    const list = [from('a', 'x')];
    const catalog = createCatalog(list);
    list.push(from('a', 'y'));
    expect(catalog.tools).toHaveLength(1);
    expect(Object.isFrozen(catalog)).toBe(true);
    expect(() => Reflect.apply(Array.prototype.push, catalog.tools, [from('a', 'y')])).toThrow(TypeError);
    expect(() => Reflect.apply(Array.prototype.push, catalog.rules, [{}])).toThrow(TypeError);
  });
});

describe('the fingerprint', () => {
  const base = { description: 'Reads.', inputSchema: { type: 'object', properties: { a: { type: 'string' } } } };
  const make = (more: Record<string, unknown> = {}): Tool => createTool('x', {}, undefined, { ...base, ...more });
  const of = (...tools: Tool[]) => createCatalog(tools).fingerprint;

  it('is the same for the same content', () => {
    expect(of(make())).toBe(of(make()));
    expect(of(make())).toMatch(/^[0-9a-f]{64}$/u);
  });

  it.each([
    ['the name', { name: 'y' }],
    ['the description', { description: 'Reads!' }],
    ['the category', { category: 'c' }],
    ['the input schema', { inputSchema: { type: 'object', properties: { a: { type: 'integer' } } } }],
    [
      'a description in the schema',
      { inputSchema: { type: 'object', properties: { a: { type: 'string', description: 'd' } } } },
    ],
    ['the output schema', { outputSchema: { type: 'object' } }],
    ['the instructions', { instructions: 'i' }],
    ['whose it is', { scope: { user: 'ann' } }],
    ['the preconditions', { preconditions: ['p'] }],
  ])('changes with %s, which a model can see', (_, more) => {
    expect(of(make(more))).not.toBe(of(make()));
  });

  it('changes with the order, and with what is missing', () => {
    const [a, b] = [from('f', 'a'), from('f', 'b')];
    expect(of(a, b)).not.toBe(of(b, a));
    expect(of(a, b)).not.toBe(of(a));
    expect(of()).not.toBe(of(a));
  });

  it('does not take text from one field for another', () => {
    expect(toolHash(make({ description: 'a', category: 'b' }))).not.toBe(
      toolHash(make({ description: 'b', category: 'a' })),
    );
  });

  it('of a view is that of its tools', () => {
    const tools = [from('f', 'a')];
    expect(fingerprintOf(tools)).toBe(createCatalog(tools).fingerprint);
  });
});

const issuesOf = (rule: unknown) =>
  ruleSchema.safeParse(rule).error?.issues.map(({ path, message }) => `${path.join('.')}: ${message}`) ?? [];

describe('a rule', () => {
  it.each([
    ['entities', { name: 'r', when: { entities: ['object'] }, first: ['a'] }],
    ['one intent', { name: 'r', when: { intent: 'forecast' }, last: ['a'] }],
    ['several intents', { name: 'r', when: { intent: ['forecast', 'warning'] }, include: ['a'] }],
    ['words of the message', { name: 'r', when: { message: '水位|level' }, include: ['a', 'b'] }],
    [
      'all of them',
      { name: 'r', when: { entities: ['o'], intent: 'i', message: 'm' }, first: ['a'], last: ['b'], include: ['c'] },
    ],
  ])('may look at %s', (_, rule) => {
    expect(ruleSchema.parse(rule)).toEqual(rule);
  });

  it.each([
    ['nothing that it adds', { name: 'r', when: { intent: 'i' } }, ': a rule needs first, last or include'],
    ['an empty name', { name: '', when: { intent: 'i' }, first: ['a'] }, 'name: '],
    ['no condition', { name: 'r', first: ['a'] }, 'when: '],
    [
      'an empty condition, which would always hold',
      { name: 'r', when: {}, first: ['a'] },
      'when: a rule needs at least one condition',
    ],
    ['an unknown condition', { name: 'r', when: { user: 'ann' }, first: ['a'] }, 'when: '],
    ['an unknown place', { name: 'r', when: { intent: 'i' }, before: ['a'] }, ': '],
    ['no entity', { name: 'r', when: { entities: [] }, first: ['a'] }, 'when.entities: '],
    [
      'a broken regular expression',
      { name: 'r', when: { message: '(' }, first: ['a'] },
      'when.message: not a regular expression',
    ],
    ['an empty list of tools', { name: 'r', when: { intent: 'i' }, first: [] }, 'first: '],
    ['a tool without a name', { name: 'r', when: { intent: 'i' }, include: [''] }, 'include.0: '],
  ])('is refused with %s', (_, rule, start) => {
    expect(issuesOf(rule)).toContainEqual(expect.stringContaining(start));
  });
});

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
