import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { detectSource } from '../../../../src/core/catalog/sources/formats.js';
import { describeSource } from '../../../../src/core/catalog/sources/source.js';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'winnow-detect-'));
  await writeFile(join(folder, 'api.json'), '{"openapi": "3.1.0"}');
  await writeFile(join(folder, 'old.json'), '{"swagger": "2.0"}');
  await writeFile(join(folder, 'servers.json'), '\uFEFF{"mcpServers": {}}');
  await writeFile(join(folder, 'tools.json'), '[]');
  await writeFile(join(folder, 'tools.txt'), '[]');
});
afterAll(() => rm(folder, { recursive: true }));

describe('the kind of a source', () => {
  it.each([
    ['api.json', 'openapi'],
    ['old.json', 'openapi'],
    ['servers.json', 'mcp'],
    ['tools.json', 'json'],
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
    ['https://host.test/api.yaml?key=1', { kind: 'openapi', path: 'https://host.test/api.yaml?key=1' }],
    ['https://host.test/mcp/', { kind: 'mcp', servers: { 'host.test/mcp': { url: 'https://host.test/mcp/' } } }],
    [
      'mcp:http://host.test:1/a.json',
      { kind: 'mcp', servers: { 'host.test:1/a.json': { url: 'http://host.test:1/a.json' } } },
    ],
  ])('of %s is told by its form', async (spec, expected) => {
    expect(await detectSource(spec)).toEqual(expected);
  });

  it('can not be told for a file of another kind: the prefixes are named', async () => {
    const file = join(folder, 'tools.txt');
    await expect(detectSource(file)).rejects.toMatchObject({
      code: 'invalid_option',
      message: expect.stringContaining('json:, openapi:, mcp: or skills:'),
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
