import { existsSync, readdirSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, test } from 'vitest';
import { type LoadOptions, loadCatalog } from '../../../src/core/catalog/load.js';
import type { ToolEntry } from '../../../src/core/catalog/tool.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

let folder: string;
beforeEach(() => {
  folder = temporaryFolder();
});

async function write(name: string, content: unknown) {
  const path = join(folder, name);
  await writeFile(path, JSON.stringify(content));
  return path;
}

const entry = (name: string, more: Partial<ToolEntry> = {}): ToolEntry => ({ name, toolType: 'builtin', ...more });
const names = ({ catalog }: Awaited<ReturnType<typeof loadCatalog>>) => catalog.tools.map(({ name }) => name);

describe('a catalogue of several sources', () => {
  it('has the tools and rules of all, in the order of the sources', async () => {
    const rule = { name: 'r', when: { intent: 'x' }, include: ['b'] };
    const a = await write('a.json', { name: 'first', tools: [entry('b'), entry('a')], rules: [rule] });
    const result = await loadCatalog({ sources: ['fixtures/sources/skills', a, 'fixtures/sources/library.json'] });
    expect(names(result)).toEqual([
      ...['pdf-report', 'translate-text'],
      ...['b', 'a'],
      ...['head_books_isbn', 'loan_book', 'search_http_index'],
    ]);
    expect(result.catalog.rules).toEqual([rule]);
    expect(result.catalog.name).toBe('fixtures/sources/skills + first + fixtures/sources/library.json');
    expect(result.sources.map(({ spec, tools, rules }) => [spec, tools, rules])).toEqual([
      ['fixtures/sources/skills', 2, 0],
      [a, 2, 1],
      ['fixtures/sources/library.json', 3, 0],
    ]);
    expect(result.changes).toEqual({ added: names(result), changed: [], removed: [] });
  });

  it('writes the base URL of an API that it was given into its tools, and into no others', async () => {
    const [http, baseUrl] = [{ method: 'GET', path: '/x', server: 'https://documented.test' }, 'https://real.test/v1'];
    const tools = [entry('own', { metadata: { http } }), entry('a', { origin: 'moved' })];
    const moved = entry('moved', { origin: 'moved', metadata: { http, note: 1 } });
    const bare = entry('bare', { origin: 'moved', metadata: { http: { method: 'GET', path: '/y' } } });
    const sources = [{ kind: 'tools' as const, name: 'constructor', tools: [...tools, moved, bare] }];
    const before = await loadCatalog({ sources });
    const { catalog, changes } = await loadCatalog({ sources, previous: before, baseUrls: { moved: baseUrl } });
    expect(catalog.tools.map(({ metadata }) => metadata)).toEqual([
      { http },
      {},
      { http: { ...http, server: baseUrl }, note: 1 },
      { http: { method: 'GET', path: '/y', server: baseUrl } },
    ]);
    expect(changes.changed).toEqual(['moved', 'bare']);
    expect(before.catalog.tools[2]?.metadata.http).toEqual(http);
  });

  it('is refused with a base URL that is none', async () => {
    await expect(loadCatalog({ sources: ['fixtures/sources/skills'], baseUrls: { a: 'api' } })).rejects.toMatchObject({
      code: 'invalid_option',
      message: expect.stringContaining('baseUrls.a'),
    });
  });

  it('takes tools that code has made', async () => {
    const { catalog } = await loadCatalog({ sources: [await write('a.json', [entry('a')])] });
    const path = await write('b.json', [entry('b')]);
    const result = await loadCatalog({ sources: [path, { kind: 'tools', name: 'code', tools: catalog.tools }] });
    expect(names(result)).toEqual(['b', 'a']);
    expect(result.catalog.tools[1]).toEqual(catalog.tools[0]);
  });

  it('takes entries from code as it takes those of a file, and leaves out those that are wrong', async () => {
    const tools = [{ name: 'a', description: 'does a', inputSchema: { type: 'object' } }, { name: '__proto__' }];
    const { catalog, issues } = await loadCatalog({ sources: [{ kind: 'tools', name: 'code', tools }] });
    expect(catalog.tools).toMatchObject([{ name: 'a', origin: 'code', scope: 'system' }]);
    expect(issues).toContainEqual(expect.objectContaining({ entry: 'code[1]', level: 'warning' }));
    await expect(loadCatalog({ sources: [{ kind: 'tools', name: 'code', tools }], strict: true })).rejects.toThrow(
      'code[1]',
    );
  });

  it('does without a source that fails, and says which and why', async () => {
    const good = await write('good.json', [entry('a')]);
    const bad = join(folder, 'none.json');
    const { catalog, failures, sources } = await loadCatalog({ sources: [bad, good] });
    expect(catalog.tools).toHaveLength(1);
    expect(sources.map(({ spec }) => spec)).toEqual([good]);
    expect(failures).toEqual([{ source: bad, error: expect.objectContaining({ code: 'source_failed' }) }]);
    expect(failures[0]?.error.message).toContain('none.json');
  });

  it.each([
    ['the only source', ['none.json'], 'none.json'],
    ['every source', ['none.json', 'nor.json'], '2 sources failed'],
  ])('is refused when %s fails', async (_, files, message) => {
    await expect(loadCatalog({ sources: files })).rejects.toMatchObject({
      code: 'source_failed',
      message: expect.stringContaining(message),
    });
  });

  it.each([0, 2 ** 31, Number.NaN])('is refused with a time-out that no timer keeps: %d', async (timeoutMs) => {
    await expect(loadCatalog({ sources: ['fixtures/sources/skills'], timeoutMs })).rejects.toMatchObject({
      code: 'invalid_option',
      message: expect.stringContaining('timeoutMs'),
    });
  });

  it('is refused without any source', async () => {
    const refused = { code: 'invalid_option', message: expect.stringContaining('at least one source') };
    await expect(loadCatalog({ sources: [] })).rejects.toMatchObject(refused);
    await expect(loadCatalog(JSON.parse('{}'))).rejects.toMatchObject(refused);
  });

  it('is refused, naming both files, when two system tools have one name', async () => {
    const a = await write('a.json', [entry('x'), entry('same')]);
    const b = await write('b.json', [entry('same', { origin: 'elsewhere' })]);
    await expect(loadCatalog({ sources: [a, b] })).rejects.toMatchObject({
      code: 'invalid_catalog',
      issues: [`two tools are named "same": ${a}[1] and ${b}[0]`],
    });
  });

  it('is given up when the caller cancels', async () => {
    const options: LoadOptions = { sources: ['fixtures/sources/tools.jsonl'], signal: AbortSignal.abort() };
    await expect(loadCatalog(options)).rejects.toMatchObject({ code: 'cancelled' });
  });
});

describe('wrong entries', () => {
  const wrong = [entry('good'), { description: 'x' }, entry('bad', { inputSchema: { type: 7 } }), { name: 'untyped' }];

  it('are left out with an issue each, which also goes to the log', async () => {
    const path = await write('a.json', wrong);
    const logged: unknown[] = [];
    const log = (level: string) => (facts: object, message: string) => logged.push({ level, ...facts, message });
    const result = await loadCatalog({ sources: [path], logger: { debug: log('debug'), warn: log('warn') } });
    expect(names(result)).toEqual(['good', 'untyped']);
    expect(result.issues.map(({ level, entry: place, name }) => [level, place, name])).toEqual([
      ['warning', `${path}[1]`, undefined],
      ['warning', `${path}[2]`, 'bad'],
      ['debug', `${path}[3]`, 'untyped'],
    ]);
    expect(logged).toMatchObject([
      { level: 'warn' },
      { level: 'warn', tool: 'bad' },
      { level: 'debug', tool: 'untyped' },
    ]);
  });

  it('refuse the catalogue under strict, all of them listed', async () => {
    const path = await write('a.json', wrong);
    await expect(loadCatalog({ sources: [path], strict: true })).rejects.toMatchObject({
      code: 'invalid_catalog',
      issues: [
        expect.stringContaining(`${path}[1]: name`),
        expect.stringContaining(`${path}[2] bad: inputSchema.type`),
      ],
    });
  });

  it('do not include a missing toolType, also under strict', async () => {
    const path = await write('a.json', [{ name: 'untyped' }]);
    expect((await loadCatalog({ sources: [path], strict: true })).catalog.tools).toMatchObject([{ toolType: 'skill' }]);
  });

  it('and a failing source are alike under strict', async () => {
    const sources = [await write('a.json', [entry('a')]), join(folder, 'none.json')];
    await expect(loadCatalog({ sources, strict: true })).rejects.toMatchObject({ code: 'source_failed' });
  });
});

describe('a reload', () => {
  const load = (previous?: LoadOptions['previous']) =>
    loadCatalog({ sources: [join(folder, 'a.json'), join(folder, 'b.json')], previous });

  it('updates only what changed: every other tool stays the same object', async () => {
    await write('a.json', [entry('same', { inputSchema: { type: 'object' } }), entry('changed'), entry('removed')]);
    await write('b.json', [entry('other')]);
    const before = await load();
    await write('a.json', [
      entry('added'),
      entry('changed', { description: 'new' }),
      entry('same', { inputSchema: { type: 'object' } }),
    ]);
    const after = await load(before);
    expect(after.changes).toEqual({ added: ['added'], changed: ['changed'], removed: ['removed'] });
    expect(after.catalog.tools[2]).toBe(before.catalog.tools[0]);
    expect(after.catalog.tools[3]).toBe(before.catalog.tools[3]);
    expect(after.catalog.tools[1]).not.toBe(before.catalog.tools[1]);
    expect(after.catalog.tools[1]?.description).toBe('new');
  });

  it('may keep what a source gave before it broke, rules too, and says that it is broken', async () => {
    const rule = { name: 'r', when: { intent: 'x' }, include: ['kept'] };
    await write('a.json', { tools: [entry('kept')], rules: [rule] });
    await write('b.json', [entry('other')]);
    const sources = [join(folder, 'a.json'), join(folder, 'b.json')];
    const keepFailed = true;
    let last = await loadCatalog({ sources });
    const [kept] = last.catalog.tools;
    await writeFile(join(folder, 'a.json'), '{');
    await write('b.json', [entry('new')]);
    for (let time = 0; time < 2; time++) {
      last = await loadCatalog({ sources, previous: last, keepFailed });
      expect([names(last), last.catalog.rules]).toEqual([['kept', 'new'], [rule]]);
      expect(last.catalog.tools[0]).toBe(kept);
      expect(last.failures.map(({ source }) => source)).toEqual([sources[0]]);
    }
    expect(names(await loadCatalog({ sources, previous: last }))).toEqual(['new']);
    await write('a.json', [entry('mended')]);
    last = await loadCatalog({ sources, previous: last, keepFailed });
    expect([names(last), last.failures]).toEqual([['mended', 'new'], []]);
  });

  it.each([
    ['the risk', { risk: 'high' as const }],
    ['the keywords', { keywords: ['k'] }],
    ['the availability', { available: false }],
  ])('sees a change that no model sees: %s', async (_, more) => {
    await write('a.json', [entry('a', { risk: 'low' })]);
    await write('b.json', []);
    const before = await load();
    await write('a.json', [entry('a', { risk: 'low', ...more })]);
    const after = await load(before);
    expect(after.changes.changed).toEqual(['a']);
    expect(after.catalog.tools).toMatchObject([more]);
  });

  it('without a change gives the same catalogue object', async () => {
    await write('a.json', {
      name: 'a',
      tools: [entry('a')],
      rules: [{ name: 'r', when: { intent: 'i' }, first: ['a'] }],
    });
    await write('b.json', [entry('b')]);
    const before = await load();
    const after = await load(before);
    expect(after.catalog).toBe(before.catalog);
    expect(after.changes).toEqual({ added: [], changed: [], removed: [] });
  });

  it.each([
    ['the rules', [entry('b'), entry('c')], [{ name: 'r', when: { intent: 'i' }, first: ['a'] }], ['a', 'b', 'c']],
    ['the order', [entry('c'), entry('b')], [], ['a', 'c', 'b']],
  ])('sees a change of %s, and keeps the tools', async (_, tools, rules, expected) => {
    await write('a.json', [entry('a')]);
    await write('b.json', { name: 'b', tools: [entry('b'), entry('c')], rules: [] });
    const before = await load();
    await write('b.json', { name: 'b', tools, rules });
    const after = await load(before);
    expect(after.catalog.rules).toEqual(rules);
    expect(names(after)).toEqual(expected);
    expect(new Set(after.catalog.tools)).toEqual(new Set(before.catalog.tools));
    expect(before.catalog.tools).toContain(after.catalog.tools[1]);
  });
});

describe('the catalogues that come with the package', () => {
  it.each(['hydrology', 'coding-agent', 'assistant'])('%s loads whole, without a warning', async (name) => {
    const path = `fixtures/catalogs/${name}.json`;
    const content = JSON.parse(await readFile(path, 'utf8'));
    const { catalog, issues, failures } = await loadCatalog({ sources: [path], strict: true });
    expect(issues).toEqual([]);
    expect(failures).toEqual([]);
    expect(catalog.name).toBe(name);
    expect(catalog.tools).toHaveLength(content.tools.length);
    expect(catalog.rules).toHaveLength(content.rules.length);
  });
});

const benchmarks = process.env.WINNOW_BENCHMARKS ?? '../shared/benchmarks';
const files = existsSync(benchmarks) ? readdirSync(benchmarks).filter((name) => name.endsWith('.tools.json')) : [];

describe('the public benchmarks', () => {
  if (files.length === 0) test.skip(`are not at ${benchmarks}: skipped`, () => undefined);
  else {
    it.each(files)('%s loads whole, without a warning', async (name) => {
      const path = join(benchmarks, name);
      const entries = JSON.parse(await readFile(path, 'utf8'));
      const { catalog, issues } = await loadCatalog({ sources: [path], strict: true });
      expect(catalog.tools).toHaveLength(entries.length);
      expect(issues.filter(({ level }) => level === 'warning')).toEqual([]);
    });
  }
});
