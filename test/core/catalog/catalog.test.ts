import { describe, expect, it } from '@jest/globals';
import { createCatalog, fingerprintOf, toolHash } from '../../../src/core/catalog/catalog.js';
import type { Tool } from '../../../src/core/catalog/tool.js';
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
    ['with a scope', { name: 'a', description: '', inputSchema: {}, scope: 'system' }],
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
