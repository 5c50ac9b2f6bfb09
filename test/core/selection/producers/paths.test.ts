/** Where a file lies: a user says it, or a tool that searches or lists finds it. */
import { describe, expect, it } from '@jest/globals';
import { createScope } from '../../../../src/core/catalog/scope.js';
import type { ToolEntry } from '../../../../src/core/catalog/tool.js';
import { mustRefer } from '../../../../src/core/selection/must-refer.js';
import { pathEntities, worksOnPath } from '../../../../src/core/selection/producers/vocabulary.js';
import { loadFixture, makeTool, needing, returning, viewOf } from '../setup.js';
import { producersFor } from './setup.js';

/** As MCP servers give them: each result is declared as text in an envelope. */
function onServer(origin: string, name: string, entry: Partial<ToolEntry>) {
  return makeTool(name, { origin, inputSchema: needing('path'), outputSchema: returning('content'), ...entry });
}

const files = viewOf([
  onServer('files', 'read_file', { description: 'Read the complete contents of a file as text.' }),
  onServer('files', 'edit_file', { description: 'Make line-based edits to a text file.', risk: 'high' }),
  onServer('files', 'write_file', { description: 'Create a new file or overwrite an existing one.', risk: 'high' }),
  onServer('files', 'list_directory', { description: 'Get a listing of all files in a path.' }),
  onServer('files', 'search_files', {
    description: 'Recursively search for files matching a pattern.',
    inputSchema: needing('path', 'pattern'),
  }),
  onServer('git', 'blame_lines', { description: 'Who changed the lines of a file.' }),
]);
const codingAgent = createScope(await loadFixture('coding-agent'))({});

describe('the path of what is there', () => {
  it.each([
    [files, 'read_file', 'read my notes about the budget', ['search_files']],
    [files, 'edit_file', 'correct the spelling in the letter to Ann', ['search_files']],
    [codingAgent, 'file_read', 'show me where the retry count is set', ['file_search']],
    [codingAgent, 'file_delete', 'throw the old changelog away', ['file_search']],
  ])('%# is found before %2$s', (view, name, message, expected) => {
    expect(producersFor(view, name, message, { favourites: expected })).toEqual(expected);
  });

  it.each(['read src/app.ts', 'read app.ts', 'read ~/notes', 'read /notes', 'read C:\\notes'])(
    'is not looked for where the request says it: %s',
    (message) => {
      expect(producersFor(files, 'read_file', message)).toEqual([]);
    },
  );

  it.each(['write_file', 'list_directory', 'search_files'])(
    'is none of %s, which makes a new one or begins to look there',
    (name) => {
      expect(producersFor(files, name, 'something about the budget')).toEqual([]);
    },
  );

  it('is not looked for on behalf of a producer', () => {
    expect(producersFor(codingAgent, 'lsp_hover', 'what is the type of this variable')).toEqual(['lsp_open_file']);
  });

  it('on one server leads nowhere on another', () => {
    expect(producersFor(files, 'blame_lines', 'who changed the budget')).toEqual([]);
  });

  it('may be written into a plan all the same: a user can name a file by a word', () => {
    const selection = { tools: ['search_files', 'read_file'].map((name) => ({ name, via: 'model' as const })) };
    const whole = { mode: 'selected' as const, reason: '', dropped: [], leftOut: 0, ...selection };
    expect(mustRefer(files, whole, { message: 'read the Makefile' })).toEqual([]);
  });
});

describe('an argument', () => {
  it.each([
    ['path', ['file']],
    ['filePath', ['file']],
    ['file_name', ['file']],
    ['paths', ['file']],
    ['manifest_path', ['manifest', 'file']],
    ['folder', ['folder', 'directory']],
    ['directory_name', ['folder', 'directory']],
    ['output_path', undefined],
    ['to_path', undefined],
    ['name', undefined],
    ['profile', undefined],
  ])('%s says where %j lies', (argument, entities) => {
    expect(pathEntities(argument)).toEqual(entities);
  });

  it.each([
    ['read_file', true],
    ['delete_file', true],
    ['search_files', false],
    ['list_directory', false],
    ['create_directory', false],
    ['upload_file', false],
  ])('of %s is the path of what is there: %s', (name, isThere) => {
    expect(worksOnPath(name, '')).toBe(isThere);
  });
});
