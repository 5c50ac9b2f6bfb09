import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadSourceSynonyms, loadSynonyms } from '../../../src/agents/search/source-synonyms.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

let folder: string;
const at = (name: string) => join(folder, name);
beforeAll(() => {
  folder = temporaryFolder();
  writeFileSync(at('tools.json'), JSON.stringify({ tools: [], synonyms: [['dam', 'weir']] }));
  writeFileSync(at('plain.json'), '[{"name": "a"}]');
  writeFileSync(at('broken.json'), JSON.stringify({ tools: [], synonyms: [['alone']] }));
  writeFileSync(at('own.json'), '[["gauge", "meter"]]');
  writeFileSync(at('tools.jsonl'), '{"name": "a"}\n');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the synonyms of sources', () => {
  it('come from catalogue files and from a file besides', async () => {
    const sources = [
      at('tools.json'),
      at('plain.json'),
      at('tools.jsonl'),
      resolveSource('fixtures/sources/petstore.yaml'),
    ];
    expect(await loadSourceSynonyms({ sources, file: at('own.json') })).toEqual([
      ['dam', 'weir'],
      ['gauge', 'meter'],
    ]);
  });

  it('that are not usable are told and left out, those of the file are refused', async () => {
    const told: string[] = [];
    const onFailure = (source: string, { message }: Error) => told.push(`${source}: ${message}`);
    const sources = [at('broken.json'), at('none.json'), at('tools.json')];
    expect(await loadSourceSynonyms({ sources, onFailure })).toEqual([['dam', 'weir']]);
    expect(told.sort()).toEqual([
      expect.stringContaining('a group needs at least two words'),
      expect.stringContaining('none.json'),
    ]);
    await expect(loadSourceSynonyms({ sources: [], file: at('none.json') })).rejects.toMatchObject({
      code: 'invalid_option',
    });
  });
});

function resolveSource(path: string): string {
  return join(process.cwd(), path);
}

describe('a file of synonyms', () => {
  const file = (content: string) => {
    const path = at(`${Math.random()}.json`);
    writeFileSync(path, content);
    return path;
  };

  it.each([
    ['a catalogue with the key', '{"tools": [], "synonyms": [["a", "b"]]}', [['a', 'b']]],
    ['a catalogue without it', '{"tools": []}', []],
    ['the table alone', '[["a", "b"]]', [['a', 'b']]],
  ])('may be %s', async (_, content, synonyms) => {
    expect(await loadSynonyms(file(content))).toEqual(synonyms);
  });

  it.each([
    ['is missing', () => at('none.json')],
    ['is no JSON', () => file('{')],
    ['has a wrong entry', () => file('{"synonyms": [["a"]]}')],
  ])('that %s is named in the error', async (_, make) => {
    const path = make();
    await expect(loadSynonyms(path)).rejects.toMatchObject({
      code: 'invalid_option',
      message: expect.stringContaining(path),
    });
  });
});
