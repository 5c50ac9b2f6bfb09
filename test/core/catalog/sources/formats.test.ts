import { once } from 'node:events';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { dirname, join } from 'node:path';

import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { loadCatalog } from '../../../../src/core/catalog/load.js';
import { detectSource, readSource } from '../../../../src/core/catalog/sources/formats.js';
import { describeSource, parseReading } from '../../../../src/core/catalog/sources/source.js';
import { renderSummary } from '../../../../src/core/catalog/summary.js';
import { reasonOf } from '../../../../src/core/errors.js';
import { temporaryFolder } from '../../../support/temporary-folder.js';

let folder: string;

beforeAll(async () => {
  folder = temporaryFolder();
  await writeFile(join(folder, 'api.json'), '{"openapi": "3.1.0"}');
  await writeFile(join(folder, 'old.json'), '{"swagger": "2.0"}');
  await writeFile(join(folder, 'servers.json'), '\uFEFF{"mcpServers": {}}');
  await writeFile(join(folder, 'tools.json'), '[]');
  await writeFile(join(folder, 'editor.json'), '{"servers": {}, "inputs": []}');
  await writeFile(join(folder, 'tools.yaml'), '- name: a\n');
  await writeFile(join(folder, 'catalogue.yml'), 'name: mine\ntools: []\n');
  await writeFile(join(folder, 'servers.yaml'), 'mcpServers: {}\n');
  await writeFile(join(folder, 'api.yaml'), '# An API\nopenapi: 3.1.0\n');
  await writeFile(join(folder, 'tools.txt'), '[]');
});

describe('the kind of a source', () => {
  it.each([
    ['api.json', 'openapi'],
    ['old.json', 'openapi'],
    ['servers.json', 'mcp'],
    ['tools.json', 'json'],
    ['editor.json', 'mcp'],
    ['tools.yaml', 'json'],
    ['catalogue.yml', 'json'],
    ['servers.yaml', 'mcp'],
    ['api.yaml', 'openapi'],
  ])('of %s is found from its content: %s', async (name, kind) => {
    expect(await detectSource(join(folder, name))).toEqual({ kind, path: join(folder, name) });
  });

  it.each([
    ['fixtures/sources/skills', { kind: 'skills', path: 'fixtures/sources/skills' }],
    ['fixtures/sources/skills/pdf-report/SKILL.md', { kind: 'skills', path: 'fixtures/sources/skills/pdf-report' }],
    ['fixtures/sources/tools.jsonl', { kind: 'json', path: 'fixtures/sources/tools.jsonl' }],
    ['fixtures/sources/petstore.yaml', { kind: 'openapi', path: 'fixtures/sources/petstore.yaml' }],
    ['openapi:a.txt', { kind: 'openapi', path: 'a.txt' }],
    ['mcp:a.txt', { kind: 'mcp', path: 'a.txt' }],
    ['skills:a', { kind: 'skills', path: 'a' }],
    ['json:https://host.test/tools', { kind: 'json', path: 'https://host.test/tools' }],
    ['https://host.test/mcp/', { kind: 'mcp', servers: { 'host.test/mcp': { url: 'https://host.test/mcp/' } } }],
    [
      'mcp:http://host.test:1/a.json',
      { kind: 'mcp', servers: { 'host.test:1/a.json': { url: 'http://host.test:1/a.json' } } },
    ],
  ])('of %s is told by its form', async (spec, expected) => {
    expect(await detectSource(spec)).toEqual(expected);
  });

  it.each([
    ['openapi', 'openapi: 3.1.0\npaths: {}'],
    ['json', 'name: mine\ntools: []'],
    ['mcp', 'mcpServers: {}'],
  ])('of YAML behind a URL is found from its content: %s', async (kind, text) => {
    const server = createServer((_, response) => response.end(text)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const path = `http://127.0.0.1:${Object(server.address()).port}/all.yaml?key=1`;
    expect(await detectSource(path)).toEqual({ kind, path });
    server.close();
  });

  it('is not looked for where its URL redirects to, which a message names', async () => {
    const server = createServer((_, response) => response.writeHead(302, { location: 'https://other.test/a' }).end());
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const url = `http://127.0.0.1:${Object(server.address()).port}/all.json`;
    await expect(loadCatalog({ sources: [`json:${url}`] })).rejects.toMatchObject({
      code: 'source_failed',
      message: expect.stringContaining('it redirects to https://other.test/a; if you trust it, name that URL'),
    });
    server.close();
  });

  it('can not be told for a file of another kind: the prefixes are named', async () => {
    const file = join(folder, 'tools.txt');
    await expect(detectSource(file)).rejects.toMatchObject({
      code: 'invalid_option',
      message: expect.stringContaining('a prefix: openapi:, mcp:, skills:, json:'),
    });
  });

  it('is not guessed for a path that does not exist', async () => {
    await expect(detectSource(join(folder, 'none.json'))).rejects.toMatchObject({
      code: 'source_failed',
      message: expect.stringContaining('none.json'),
    });
  });
});

describe('a source in words', () => {
  it.each([
    ['https://user:secret@host.test/mcp?key=secret', 'https://host.test/mcp'],
    ['mcp:https://host.test/mcp?key=secret', 'mcp:https://host.test/mcp'],
    ['folder/tools.json', 'folder/tools.json'],
    ['openapi:a.yaml', 'openapi:a.yaml'],
  ])('%s becomes %s', (spec, words) => {
    expect(describeSource(spec)).toBe(words);
  });
});

it.each([
  [new Error('It is gone. '), 'It is gone'],
  [new Error('in v1.2'), 'in v1.2'],
  ['a text.', 'a text'],
])('the reason of a failure stands in the middle of a sentence: %s', (thrown, reason) => {
  expect(reasonOf(thrown)).toBe(reason);
});

let own: string;
beforeEach(() => {
  own = temporaryFolder();
});

/** Of all places of the source together. */
async function read(kind: 'json' | 'skills', path: string) {
  const read = await readSource({ kind, path }, { timeoutMs: 1000 });
  const parsed = read.flatMap((one) => ('error' in one ? [] : [parseReading(one)]));
  return {
    name: parsed[0]?.name,
    tools: parsed.flatMap(({ tools }) => tools.map(({ tool }) => tool)),
    rules: parsed.flatMap(({ rules }) => rules),
    issues: parsed.flatMap(({ issues }) => issues),
  };
}

async function readJson(name: string, content: unknown) {
  const path = join(own, name);
  await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content));
  const { issues, ...rest } = await read('json', path);
  return {
    ...rest,
    issues: issues.map((issue) => ({ ...issue, entry: issue.entry.replace(`${own}/`, '') })),
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
    ['tools in the form of OpenAI', { tools: [{ type: 'function', function: { name: 'a' } }] }, 'builtin'],
    ['tools in the form of Anthropic', { tools: [{ name: 'a', input_schema: { type: 'object' } }] }, 'builtin'],
    ['an answer whose tools say their own type', { tools: [{ name: 'a', toolType: 'skill' }] }, 'skill'],
  ])('may be %s', async (_, content, toolType) => {
    const { tools, issues } = await readJson('tools.json', content);
    expect(tools).toMatchObject([{ name: 'a', toolType, origin: join(own, 'tools.json') }]);
    expect(issues).toEqual([]);
  });

  it('gives its name and rules', async () => {
    const { name, rules } = await readJson('tools.json', { name: 'mine', tools: [tool], rules: [rule] });
    expect(name).toBe('mine');
    expect(rules).toEqual([rule]);
  });

  it.each([
    ['a rule without a condition', [rule, { ...rule, when: {} }], 'tools.json rules[1]', 'when: a rule needs'],
    ['rules that are no list', { a: rule }, 'tools.json rules', 'not an array'],
  ])('leaves out %s, with a warning', async (_, rules, entry, message) => {
    const { issues } = await readJson('tools.json', { name: 'mine', tools: [tool], rules });
    expect(issues).toMatchObject([{ level: 'warning', entry, message: expect.stringContaining(message) }]);
  });

  it('warns when it is one page of a longer list', async () => {
    const { tools, issues } = await readJson('tools.json', { tools: [{ name: 'a' }], nextCursor: 'x' });
    expect(tools).toHaveLength(1);
    expect(issues).toMatchObject([{ level: 'warning', message: expect.stringContaining('nextCursor') }]);
  });

  it.each([
    ['not JSON', '{"tools": [', 'is not JSON'],
    ['of another form', { name: 'mine' }, 'array of tool entries'],
    ['a plain value', '7', 'array of tool entries'],
  ])('is refused, with its name, when it is %s', async (_, content, message) => {
    await expect(readJson('tools.json', content)).rejects.toMatchObject({
      code: 'source_failed',
      message: expect.stringContaining(message),
      details: { source: join(own, 'tools.json') },
    });
  });

  it('that is not UTF-8 is refused by its name', async () => {
    await writeFile(join(own, 'old.json'), Buffer.from('[{"name": "\u00e9t\u00e9"}]', 'latin1'));
    await expect(read('json', join(own, 'old.json'))).rejects.toMatchObject({
      code: 'source_failed',
      message: `The source ${join(own, 'old.json')} is not UTF-8 text. Save it as UTF-8.`,
    });
  });

  it('takes a null as a value that is not there', async () => {
    const entry = { ...tool, outputSchema: null, category: null, annotations: { title: null, readOnlyHint: true } };
    const { tools, issues } = await readJson('tools.json', [entry]);
    expect(tools).toMatchObject([{ name: 'a', risk: 'low' }]);
    expect(issues).toEqual([]);
  });
});

/** Each map takes over the one before it ten times. */
function nestedMerges(levels: number): string {
  const one = (_: unknown, level: number) => `x${level + 1}: &x${level + 1} { <<: [${Array(10).fill(`*x${level}`)}] }`;
  return ['x0: &x0 { toolType: builtin }', ...Array.from({ length: levels }, one)].join('\n');
}

describe('a YAML file with merge keys', () => {
  it('takes over the keys of a map, of the first of several, and of what that takes over; own keys count before', async () => {
    const { tools, issues } = await readJson(
      'tools.yaml',
      `base: &base { toolType: builtin, category: water, risk: low }
more: &more { <<: *base, category: air }
tools:
  - { <<: *base, name: a }
  - { <<: [*more, *base], name: b, risk: high }
`,
    );
    expect(issues).toEqual([]);
    expect(tools).toMatchObject([
      { name: 'a', toolType: 'builtin', category: 'water', risk: 'low' },
      { name: 'b', toolType: 'builtin', category: 'air', risk: 'high' },
    ]);
  });

  it.each([
    ['a text', 'tools: [{ <<: base, name: a }]', 'The merge key << takes a map'],
    ['the map that it is in', 'tools: [&a { <<: *a, name: a }]', 'An alias stands in the map'],
    ['ten maps, each of ten, and so on', nestedMerges(9), 'alias'],
  ])('is refused where it takes over %s', async (_, text, message) => {
    await expect(readJson('tools.yaml', text)).rejects.toThrow(message);
  });
});

describe('a wrong entry is left out with its place and name', () => {
  it.each([
    ['no name', { description: 'x' }, undefined, 'name'],
    ['a schema that is a string', { ...tool, inputSchema: 'string' }, 'a', 'inputSchema'],
    ['a schema of an impossible form', { ...tool, inputSchema: { properties: [] } }, 'a', 'inputSchema.properties'],
    ['an output of an impossible form', { ...tool, outputSchema: { type: 1 } }, 'a', 'outputSchema.type'],
    ['a value that is no object', 'a', undefined, 'entry'],
    [
      'a function with a wrong schema',
      { type: 'function', function: { ...tool, parameters: ['x'] } },
      'a',
      'inputSchema',
    ],
  ])('%s', async (_, entry, name, message) => {
    const { tools, issues } = await readJson('tools.json', [{ ...tool, name: 'good' }, entry]);
    expect(tools.map((item) => item.name)).toEqual(['good']);
    expect(issues).toHaveLength(1);
    expect(issues[0]).toMatchObject({
      level: 'warning',
      entry: 'tools.json[1]',
      message: expect.stringContaining(message),
    });
    expect(issues[0]?.name).toBe(name);
  });
});

describe('a JSONL file', () => {
  it('holds one entry a line, in order', async () => {
    const { tools, issues } = await read('json', 'fixtures/sources/tools.jsonl');
    expect(tools.map((item) => [item.name, item.risk, item.origin])).toEqual([
      ['convert_currency', 'low', 'fixtures/sources/tools.jsonl'],
      ['列出汇率', 'low', 'fixtures/sources/tools.jsonl'],
      ['book_transfer', 'high', 'bank'],
    ]);
    expect(issues).toEqual([]);
  });

  it('loses only the line that is not JSON', async () => {
    const { tools, issues } = await readJson(
      't.jsonl',
      `${JSON.stringify(tool)}\r\n\r\n{"name":\r\n{"name":"b","toolType":"mcp"}`,
    );
    expect(tools.map((item) => item.name)).toEqual(['a', 'b']);
    expect(issues).toMatchObject([
      { level: 'warning', entry: 't.jsonl:3', message: expect.stringContaining('not JSON'), isLeftOut: true },
    ]);
  });
});

async function write(file: string, text: string) {
  await mkdir(dirname(join(own, file)), { recursive: true });
  await writeFile(join(own, file), text);
}

const readSkills = (path = own) => read('skills', path);

describe('a skills folder', () => {
  it('gives one skill for each SKILL.md, sorted by path', async () => {
    const { tools, issues } = await readSkills('fixtures/sources/skills');
    expect(issues).toEqual([]);
    expect(tools.map(({ name, toolType, origin }) => ({ name, toolType, origin }))).toEqual([
      { name: 'pdf-report', toolType: 'skill', origin: 'fixtures/sources/skills' },
      { name: 'translate-text', toolType: 'skill', origin: 'fixtures/sources/skills' },
    ]);
  });

  it('shows name and description at first, and holds the whole text for later', async () => {
    const [skill] = (await readSkills('fixtures/sources/skills')).tools;
    if (!skill) throw new Error('no skill');
    expect(renderSummary(skill, 'whole')).toBe(
      '- pdf-report [documents]: Writes a PDF report from tables and figures. Use it when someone asks for a printable report.',
    );
    expect(skill.instructions).toMatch(/^# PDF report\n[\s\S]*\n---\n\nKeep it under ten pages\.$/);
    expect(skill.metadata).toEqual({ author: 'docs-team', license: 'MIT', skill: { file: 'pdf-report/SKILL.md' } });
  });

  it('may be the folder of one skill', async () => {
    const { tools } = await readSkills('fixtures/sources/skills/pdf-report');
    expect(tools.map(({ name }) => name)).toEqual(['pdf-report']);
  });

  it("does not take a skill's own files, dot-folders or packages for skills", async () => {
    const text = '---\nname: NAME\ndescription: d\n---\nbody';
    for (const file of [
      'a/SKILL.md',
      'a/examples/SKILL.md',
      '.git/SKILL.md',
      'node_modules/p/SKILL.md',
      'b/README.md',
    ]) {
      await write(file, text.replace('NAME', file.replaceAll('/', '-')));
    }
    expect((await readSkills()).tools.map(({ name }) => name)).toEqual(['a-SKILL.md']);
  });

  it('holds skills behind links, each once', async () => {
    const skill = '---\nname: NAME\ndescription: d\n---\nbody';
    const elsewhere = temporaryFolder();
    await writeFile(join(elsewhere, 'SKILL.md'), skill.replace('NAME', 'linked'));
    await write('own/SKILL.md', skill.replace('NAME', 'own'));
    await writeFile(join(elsewhere, 'text.md'), skill.replace('NAME', 'file'));
    await mkdir(join(own, 'x'));
    await symlink(elsewhere, join(own, 'linked'));
    await symlink(join(elsewhere, 'text.md'), join(own, 'x', 'SKILL.md'));
    await symlink(own, join(own, 'circle'));
    await symlink(join(own, 'nowhere'), join(own, 'broken'));
    const { tools } = await readSkills();
    expect(tools.map(({ name }) => name)).toEqual(['linked', 'own', 'file']);
  });

  it('reads Windows line ends and a byte order mark', async () => {
    await write('a/SKILL.md', '\uFEFF---\r\nname: a\r\ndescription: d\r\n---\r\nbody\r\n');
    expect((await readSkills()).tools).toMatchObject([{ name: 'a', description: 'd', instructions: 'body' }]);
  });

  it.each([
    ['beside its name', 'toolType: builtin\norigin: elsewhere\ninstructions: short'],
    ['of a function', 'type: function\nfunction: {toolType: builtin, origin: elsewhere, instructions: short}'],
  ])('keeps the type and place that the folder says, whatever the front matter says %s', async (_, matter) => {
    await write('a/SKILL.md', `---\nname: a\n${matter}\n---\nbody`);
    expect((await readSkills()).tools).toMatchObject([{ toolType: 'skill', origin: own, instructions: 'body' }]);
  });

  it.each([
    ['has no front matter', '# Title', 'front matter'],
    ['has no end of the front matter', '---\nname: a\n', 'front matter'],
    ['has front matter that is not YAML', '---\nname: a\ndescription: use: when: x\n---\nb', 'not YAML'],
    ['has front matter that is a list', '---\n- a\n---\nb', 'key: value'],
    ['has no name', '---\ndescription: d\n---\nb', 'name'],
    ['has a front matter that refers to itself', '---\nname: a\nmetadata: &m\n  again: *m\n---\nb', 'refers to itself'],
  ])('leaves out a SKILL.md that %s, with its path', async (_, text, message) => {
    await write('bad/SKILL.md', text);
    await write('good/SKILL.md', '---\nname: good\ndescription: d\n---\nbody');
    const { tools, issues } = await readSkills();
    expect(tools.map(({ name }) => name)).toEqual(['good']);
    expect(issues).toMatchObject([
      {
        level: 'warning',
        entry: expect.stringContaining(join('bad', 'SKILL.md')),
        message: expect.stringContaining(message),
      },
    ]);
  });

  it.each([
    ['no skill in it', ''],
    ['not existing', 'none'],
  ])('fails with its name when %s', async (_, name) => {
    const path = join(own, name);
    await expect(readSkills(path)).rejects.toMatchObject({ code: 'source_failed', details: { source: path } });
  });
});
