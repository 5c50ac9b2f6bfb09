import { describe, expect, it } from 'vitest';
import { findSizeProblem } from '../../../src/core/catalog/schema/bounds.js';
import { parseReading } from '../../../src/core/catalog/sources/source.js';
import { MAX_DESCRIPTION_CHARACTERS, parseTool, type Tool } from '../../../src/core/catalog/tool.js';

const PLACE = { origin: 'tools.json', index: 3 };
const parse = (entry: unknown) => parseTool(entry, PLACE);
const toolOf = (entry: unknown): Tool => {
  const parsed = parse(entry);
  if (!parsed.ok) throw new Error(parsed.issues.map(({ message }) => message).join('; '));
  return parsed.tool;
};

describe('an entry', () => {
  it('needs only a name; the rest has a default', () => {
    expect(toolOf({ name: 'a' })).toEqual({
      name: 'a',
      description: '',
      toolType: 'skill',
      inputSchema: { type: 'object' },
      risk: 'medium',
      keywords: [],
      aliases: [],
      examples: [],
      alwaysLoad: false,
      relatedTools: [],
      preconditions: [],
      origin: 'tools.json',
      scope: 'system',
      available: true,
      metadata: {},
    });
  });

  it('keeps all that it says', () => {
    const said = {
      name: 'a',
      title: 'A',
      description: 'Does.',
      category: 'c',
      toolType: 'mcp' as const,
      inputSchema: { type: 'object', properties: { x: { type: 'string' } } },
      outputSchema: { type: 'array' },
      risk: 'high' as const,
      keywords: ['k'],
      aliases: ['b'],
      examples: ['do b'],
      alwaysLoad: true,
      relatedTools: ['r'],
      preconditions: ['p'],
      origin: 'elsewhere',
      scope: { user: 'ann' },
      available: false,
      instructions: 'text',
      metadata: { any: [1] },
    };
    expect(toolOf(said)).toEqual(said);
  });

  it('comes from its server where it names no origin', () => {
    expect(toolOf({ name: 'a', server: 'github' }).origin).toBe('github');
    expect(toolOf({ name: 'a', server: 'github', origin: 'file' }).origin).toBe('file');
  });
});

describe('a slip in a key', () => {
  const warning = (message: string) => ({ level: 'warning', entry: 'tools.json[3]', name: 'a', message });

  it('is a warning, and the tool is as usable as without that key', () => {
    const parsed = parse({ name: 'a', toolType: 'mcp', input_schema: {}, colour: 'red' });
    expect(parsed).toMatchObject({ ok: true, tool: { metadata: { input_schema: {}, colour: 'red' } } });
    expect(parsed.issues).toEqual([
      warning('input_schema: an unknown key, without effect; "inputSchema" may be meant'),
    ]);
  });

  it('is told beside what is wrong', () => {
    const { issues } = parse({ name: 'a', tooltype: 'mcp', risk: 'deadly' });
    expect(issues.map(({ message }) => message)).toEqual([
      expect.stringMatching(/^risk: /u),
      'tooltype: an unknown key, without effect; "toolType" may be meant',
    ]);
  });
});

describe('a key that is not known', () => {
  const meantBy = (key: string) =>
    parse({ name: 'a', toolType: 'mcp', [key]: 'x' }).issues.map(({ message }) => /"(.*)" may be/u.exec(message)?.[1]);

  it.each([
    ['descripton', 'description'],
    ['Description', 'description'],
    ['input_schema', 'inputSchema'],
    ['output-schema', 'outputSchema'],
    ['always_load', 'alwaysLoad'],
  ])('may be a slip: %s', (key, meant) => {
    expect(meantBy(key)).toContain(meant);
  });

  it.each([
    ...['id', 'type', 'tags', 'version', 'icons', 'parameters', 'args', 'strict', 'execution', 'license', 'tooltip'],
    ...['_meta', 'names', 'scopes', 'servers', 'disk', 'subtitle', 'unavailable', 'conditions', ''],
  ])('is its author\'s business otherwise: "%s"', (key) => {
    expect(meantBy(key)).toEqual([]);
  });

  it('is no slip where the known key is there, too', () => {
    expect(parse({ name: 'a', toolType: 'mcp', inputSchema: {}, input_schema: {} }).issues).toEqual([]);
  });
});

describe('toolType', () => {
  it.each(['mcp', 'builtin', 'skill'])('may be %s, without a word', (toolType) => {
    expect(parse({ name: 'a', toolType })).toMatchObject({ ok: true, tool: { toolType }, issues: [] });
  });

  it('that is missing is a skill, which the debug log tells', () => {
    const issues = [
      { level: 'debug', entry: 'tools.json[3]', name: 'a', message: 'toolType is missing: taken as "skill"' },
    ];
    expect(parse({ name: 'a' })).toMatchObject({ ok: true, tool: { toolType: 'skill' }, issues });
  });

  it.each(['function', 'MCP', '', 'plugin'])('"%s" leaves the tool out, with a warning', (toolType) => {
    const message = `toolType: "${toolType}" is none of mcp, builtin, skill`;
    expect(parse({ name: 'a', toolType })).toEqual({
      ok: false,
      issues: [{ level: 'warning', entry: 'tools.json[3]', name: 'a', message }],
    });
  });

  it('is not read from metadata.type, which stays as it was', () => {
    const parsed = parse({ name: 'a', metadata: { type: 'mcp' } });
    expect(parsed).toMatchObject({
      ok: true,
      tool: { toolType: 'skill', metadata: { type: 'mcp' } },
      issues: [{ level: 'debug' }],
    });
    expect(toolOf({ name: 'a', toolType: 'builtin', metadata: { type: 'function' } })).toMatchObject({
      toolType: 'builtin',
      metadata: { type: 'function' },
    });
  });
});

describe('risk', () => {
  it.each([
    ['that of the entry, whatever the annotations say', { risk: 'high', annotations: { readOnlyHint: true } }, 'high'],
    ['low for what only reads', { annotations: { readOnlyHint: true } }, 'low'],
    ['high for what destroys', { annotations: { destructiveHint: true } }, 'high'],
    ['high where hints contradict', { annotations: { readOnlyHint: true, destructiveHint: true } }, 'high'],
    ['high where a hint is missing, as MCP has it', { annotations: { readOnlyHint: false } }, 'high'],
    ['medium where the hints say no', { annotations: { readOnlyHint: false, destructiveHint: false } }, 'medium'],
    ['medium where nothing is said', {}, 'medium'],
  ])('is %s', (_, entry, risk) => {
    expect(toolOf({ name: 'a', ...entry }).risk).toBe(risk);
  });
});

describe('a name', () => {
  it.each([
    'a',
    'calendar.createEvent',
    'github__create_issue',
    '查询水位',
    'with space',
    'toString',
    'a/b:c',
    'x'.repeat(256),
  ])('may be %s', (name) => {
    expect(toolOf({ name }).name).toBe(name);
  });

  it.each([
    ['is empty', ''],
    ['is too long', 'x'.repeat(257)],
    ['is one of JavaScript itself', '__proto__'],
    ['is one of every object', 'constructor'],
    ['breaks the line', 'a\nb'],
    ['holds an escape sequence', 'a\u001b[31m'],
    ['holds a quote, which would close the name in the answer', 'a"b'],
    ['holds a backslash', 'a\\b'],
    ['begins with a space', ' a'],
  ])('that %s is refused', (_, name) => {
    expect(parse({ name })).toMatchObject({
      ok: false,
      issues: [{ level: 'warning', message: expect.stringMatching(/^name: /u) }],
    });
  });

  it('that is very long is cut in the message', () => {
    const [issue] = parse({ name: 'x'.repeat(100_000) }).issues;
    expect(issue?.name).toHaveLength(80);
  });
});

describe('a wrong entry', () => {
  it.each([[null], [undefined], [7], ['tool'], [[]], [true]])(
    '%j is a value with its issues, never an exception',
    (entry) => {
      expect(parse(entry)).toMatchObject({ ok: false, issues: [{ level: 'warning', entry: 'tools.json[3]' }] });
    },
  );

  it('names each thing that is wrong', () => {
    const parsed = parse({ name: 'a', description: 7, keywords: 'k', inputSchema: [], scope: 'mine' });
    const keys = parsed.issues.map(({ message }) => message.split(/[:.]/u)[0]);
    expect(keys.sort()).toEqual(['description', 'inputSchema', 'keywords', 'scope']);
  });

  it('is one with a description of a megabyte, and one just at the limit is none', () => {
    expect(parse({ name: 'a', description: 'x'.repeat(1_000_000) })).toMatchObject({
      ok: false,
      issues: [{ name: 'a', message: expect.stringMatching(/^description: /u) }],
    });
    expect(parse({ name: 'a', description: 'x'.repeat(MAX_DESCRIPTION_CHARACTERS) }).ok).toBe(true);
  });

  it.each(['keywords', 'aliases', 'examples'])('is one with %s of more characters together', (field) => {
    const words = (count: number) => Array.from({ length: count }, () => 'x'.repeat(1_000));
    expect(parse({ name: 'a', [field]: words(20) }).ok).toBe(true);
    expect(parse({ name: 'a', [field]: words(21) })).toMatchObject({
      ok: false,
      issues: [{ message: expect.stringContaining('20000 characters together') }],
    });
  });

  it.each([
    ['name', 'x'.repeat(256), 'name: Too big: expected string to have <=256 characters'],
    ['title', 'x'.repeat(1_000), 'title: Too big: expected string to have <=1000 characters'],
    ['category', 'x'.repeat(1_000), 'category: Too big: expected string to have <=1000 characters'],
    ['description', 'x'.repeat(20_000), 'description: Too big: expected string to have <=20000 characters'],
    ['instructions', 'x'.repeat(1_000_000), 'instructions: Too big: expected string to have <=1000000 characters'],
    [
      'examples',
      ['x'.repeat(20_000), ''],
      expect.stringContaining('examples: has more than 20000 characters together'),
    ],
    ['preconditions', ['x'.repeat(200_000), ''], 'preconditions: has more than 200000 characters together'],
  ])('is one whose %s is too long before hidden characters are taken out', (field, longest, message) => {
    const lengthened = (hidden: string) => (typeof longest === 'string' ? longest + hidden : [longest[0], hidden]);
    const issues = parse({ name: 'a', [field]: lengthened('\u200b') }).issues.filter(
      ({ level }) => level === 'warning',
    );
    expect(issues.map((issue) => issue.message)).toEqual([message]);
  });

  it('is one with more than a hundred annotations', () => {
    const hints = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, 1]));
    expect(parse({ name: 'a', annotations: hints(100) }).ok).toBe(true);
    expect(parse({ name: 'a', annotations: hints(101) })).toMatchObject({
      ok: false,
      issues: [{ message: 'annotations: has more than 100 keys' }],
    });
  });

  it.each([{ user: '' }, { user: 'ann', team: 'x' }, { team: 'x' }, 'private', null])(
    'is one with the scope %j: nobody sees it by mistake',
    (scope) => {
      expect(parse({ name: 'a', scope }).ok).toBe(false);
    },
  );
});

describe('a schema', () => {
  const nodesOf = (count: number) => {
    const node = { description: 'a\u200b'.repeat(5_000) };
    return {
      type: 'object',
      properties: Object.fromEntries(Array.from({ length: count }, (_, at) => [`p${at}`, node])),
    };
  };

  it.each(['inputSchema', 'outputSchema'] as const)('as %s is cleaned unless it is refused by its size', (field) => {
    const [small, large] = [nodesOf(26), nodesOf(27)];
    const cleaned = toolOf({ name: 'a', [field]: small });
    expect(JSON.stringify(cleaned[field])).not.toContain('\u200b');
    expect(cleaned.hidden).toEqual([field]);
    const [read] = parseReading({ origin: 'o', entries: [{ name: 'a', [field]: large }] }).tools;
    expect(read?.tool[field]).toBeUndefined();
    const unread = toolOf({ name: 'a', [field]: large });
    expect(unread[field]).toEqual(large);
    expect(unread.hidden).toBeUndefined();
  });

  it('that is not cleaned is always refused by its size', () => {
    const refused = findSizeProblem({ description: 'x'.repeat(262_145 - '{"description":""}'.length) });
    expect(refused).toBe('has 262145 bytes, more than 262144: shorten it');
  });
});

describe('what an entry says beyond the known words', () => {
  it('goes to metadata, under what metadata says itself', () => {
    const { metadata } = toolOf({
      name: 'a',
      version: 2,
      vendor: 'v',
      annotations: { readOnlyHint: true },
      metadata: { vendor: 'own' },
    });
    expect(metadata).toEqual({ version: 2, vendor: 'own', annotations: { readOnlyHint: true } });
  });

  it('is kept, also under the names that every object has', () => {
    const { metadata } = toolOf(JSON.parse('{"name": "a", "toString": 1, "constructor": 2}'));
    expect(Object.entries(metadata)).toEqual([
      ['toString', 1],
      ['constructor', 2],
    ]);
  });

  it('changes no other object', () => {
    toolOf(JSON.parse('{"name": "a", "__proto__": {"polluted": true}, "metadata": {"__proto__": {"polluted": true}}}'));
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
    expect(Reflect.get({}, 'polluted')).toBeUndefined();
  });
});
