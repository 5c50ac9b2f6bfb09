import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { parseReading } from '../../../../src/core/catalog/sources/entries.js';
import { jsonFormat } from '../../../../src/core/catalog/sources/json.js';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'winnow-json-'));
});
afterEach(() => rm(folder, { recursive: true }));

async function read(name: string, content: unknown) {
  const path = join(folder, name);
  await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content));
  const reading = await jsonFormat.read(path, { timeoutMs: 1000 });
  const { tools, rules, issues } = parseReading(reading);
  return {
    name: reading.name,
    tools: tools.map(({ tool }) => tool),
    rules,
    issues: issues.map((issue) => ({ ...issue, entry: issue.entry.replace(`${folder}/`, '') })),
  };
}

const tool = { name: 'a', toolType: 'builtin' };
const rule = { name: 'first', when: { intent: 'x' }, first: ['a'] };

describe('a JSON file', () => {
  it.each([
    ['an array of entries', [tool], 'builtin'],
    ['a catalogue', { name: 'mine', tools: [tool] }, 'builtin'],
    ['an answer of tools/list', { tools: [{ name: 'a', inputSchema: {} }] }, 'mcp'],
    ['an answer with its JSON-RPC frame', { jsonrpc: '2.0', id: 1, result: { tools: [{ name: 'a' }] } }, 'mcp'],
    ['an answer whose tools say their own type', { tools: [{ name: 'a', toolType: 'skill' }] }, 'skill'],
  ])('may be %s', async (_, content, toolType) => {
    const { tools, issues } = await read('tools.json', content);
    expect(tools).toMatchObject([{ name: 'a', toolType, origin: join(folder, 'tools.json') }]);
    expect(issues).toEqual([]);
  });

  it('gives its name and rules', async () => {
    const { name, rules } = await read('tools.json', { name: 'mine', tools: [tool], rules: [rule] });
    expect(name).toBe('mine');
    expect(rules).toEqual([rule]);
  });

  it.each([
    ['a rule without a condition', [rule, { ...rule, when: {} }], 'tools.json rules[1]', 'when: a rule needs'],
    ['a rule with a broken expression', [{ ...rule, when: { message: '(' } }], 'tools.json rules[0]', 'not a regular'],
    ['rules that are no list', { a: rule }, 'tools.json rules', 'not an array'],
  ])('leaves out %s, with a warning', async (_, rules, entry, message) => {
    const { issues } = await read('tools.json', { name: 'mine', tools: [tool], rules });
    expect(issues).toMatchObject([{ level: 'warning', entry, message: expect.stringContaining(message) }]);
  });

  it('warns when it is one page of a longer list', async () => {
    const { tools, issues } = await read('tools.json', { tools: [{ name: 'a' }], nextCursor: 'x' });
    expect(tools).toHaveLength(1);
    expect(issues).toMatchObject([{ level: 'warning', message: expect.stringContaining('nextCursor') }]);
  });

  it.each([
    ['not JSON', '{"tools": [', 'is not JSON'],
    ['of another form', { name: 'mine' }, 'array of tool entries'],
    ['a plain value', '7', 'array of tool entries'],
  ])('is refused, with its name, when it is %s', async (_, content, message) => {
    await expect(read('tools.json', content)).rejects.toMatchObject({
      code: 'source_failed',
      message: expect.stringContaining(message),
      details: { source: join(folder, 'tools.json') },
    });
  });

  it('takes a null as a value that is not there', async () => {
    const entry = { ...tool, outputSchema: null, category: null, annotations: { title: null, readOnlyHint: true } };
    const { tools, issues } = await read('tools.json', [entry]);
    expect(tools).toMatchObject([{ name: 'a', risk: 'low' }]);
    expect(issues).toEqual([]);
  });
});

describe('a wrong entry is left out with its place and name', () => {
  it.each([
    ['no name', { description: 'x' }, undefined, 'name'],
    ['the name __proto__', { ...tool, name: '__proto__' }, '__proto__', 'not allowed'],
    ['the name constructor', { ...tool, name: 'constructor' }, 'constructor', 'not allowed'],
    ['a line break in the name', { ...tool, name: 'a\nb' }, 'a\nb', 'no control character'],
    ['a 1 MB description', { ...tool, description: 'x'.repeat(1024 * 1024) }, 'a', 'description'],
    ['a schema that is a string', { ...tool, inputSchema: 'string' }, 'a', 'inputSchema'],
    ['a schema that is a list', { ...tool, outputSchema: [] }, 'a', 'outputSchema'],
    ['a schema of an impossible form', { ...tool, inputSchema: { properties: [] } }, 'a', 'inputSchema: properties'],
    ['an output of an impossible form', { ...tool, outputSchema: { type: 1 } }, 'a', 'outputSchema: type'],
    ['an unknown toolType', { ...tool, toolType: 'robot' }, 'a', 'toolType: "robot"'],
    ['a value that is no object', 'a', undefined, 'entry'],
    ['null', null, undefined, 'entry'],
  ])('%s', async (_, entry, name, message) => {
    const { tools, issues } = await read('tools.json', [{ ...tool, name: 'good' }, entry]);
    expect(tools.map((item) => item.name)).toEqual(['good']);
    expect(issues).toHaveLength(1);
    expect(issues[0]).toMatchObject({
      level: 'warning',
      entry: 'tools.json[1]',
      message: expect.stringContaining(message),
    });
    expect(issues[0]?.name).toBe(name);
  });

  it('keys that could reach a prototype stay plain data', async () => {
    const { tools } = await read('tools.json', '[{"name": "a", "toolType": "mcp", "__proto__": {"risk": "low"}}]');
    expect(tools).toMatchObject([{ risk: 'medium' }]);
    expect(Object.getPrototypeOf(tools[0]?.metadata)).toBe(Object.prototype);
  });
});

describe('a JSONL file', () => {
  it('holds one entry a line, in order', async () => {
    const { tools, issues } = parseReading(await jsonFormat.read('fixtures/sources/tools.jsonl', { timeoutMs: 1000 }));
    expect(tools.map((item) => [item.tool.name, item.tool.risk, item.tool.origin])).toEqual([
      ['convert_currency', 'low', 'fixtures/sources/tools.jsonl'],
      ['列出汇率', 'low', 'fixtures/sources/tools.jsonl'],
      ['book_transfer', 'high', 'bank'],
    ]);
    expect(issues).toEqual([]);
  });

  it('loses only the line that is not JSON', async () => {
    const { tools, issues } = await read(
      't.jsonl',
      `${JSON.stringify(tool)}\r\n\r\n{"name":\r\n{"name":"b","toolType":"mcp"}`,
    );
    expect(tools.map((item) => item.name)).toEqual(['a', 'b']);
    expect(issues).toMatchObject([
      { level: 'warning', entry: 't.jsonl:3', message: expect.stringContaining('not JSON') },
    ]);
  });
});
