import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Tool } from '../../../src/core/catalog/tool.js';
import type { Learnt, RankOptions } from '../../../src/core/search/rank.js';
import { createSynonymTable } from '../../../src/core/search/synonyms.js';
import { loadFixture } from '../../support/fixtures.js';
import { makeTool, returning, TOOLS } from '../selection/setup.js';
import { layerOf, NO_SYNONYMS, ranked, SYNONYMS, segmentOf } from './setup.js';

const search = (tools: readonly Tool[], query: string, options: Partial<RankOptions> = {}) =>
  ranked(query, [layerOf(tools)], { limit: 10, synonyms: SYNONYMS, ...options });
const names = (found: readonly { tool: Tool }[]) => found.map(({ tool }) => tool.name);

const GIT = [
  makeTool('git_log', {
    description: 'List commits, newest first.',
    category: 'git',
    keywords: ['history', 'commits'],
  }),
  makeTool('git_commit', {
    description: 'Record changes as a commit.',
    category: 'git',
    keywords: ['check in', 'save changes'],
  }),
  makeTool('git_branch_create', { description: 'Create a branch.', category: 'git' }),
  makeTool('file_delete', { description: 'Delete a file from the workspace.', category: 'files', aliases: ['rm'] }),
  makeTool('file_read', { description: 'Return the text of a file.', category: 'files', aliases: ['cat'] }),
  makeTool('note_save', { description: 'Keep a note for later.', title: 'Save a note' }),
];

describe('ranking', () => {
  it.each<[string, Parameters<typeof makeTool>[1]]>([
    ['aliases', { aliases: ['zebra'] }],
    ['keywords', { keywords: ['zebra'] }],
    ['title', { title: 'The zebra' }],
    ['category', { category: 'zebra' }],
    ['description', { description: 'Rides a zebra.' }],
  ])('finds a tool by its %s and says so', (field, entry) => {
    const [found] = search([...TOOLS, makeTool('other', entry)], 'zebra');
    expect(found).toMatchObject({ tool: { name: 'other' }, why: [{ word: 'zebra', fields: [field] }] });
  });

  it('looks at names of parameters only where they have a weight', () => {
    const tools = [...TOOLS, makeTool('other', { inputSchema: returning('zebra') })];
    expect(search(tools, 'zebra')).toEqual([]);
    const found = ranked('zebra', [{ segment: segmentOf(tools, { parameters: 0.2 }) }], {
      limit: 1,
      synonyms: SYNONYMS,
    });
    expect(found).toMatchObject([{ tool: { name: 'other' }, why: [{ fields: ['parameters'] }] }]);
  });

  it('finds a tool by a code of the form that its schema shows, ahead of words, and names both codes', () => {
    const showing = (name: string, description: string) =>
      makeTool(name, { inputSchema: { type: 'object', properties: { it: { type: 'string', description } } } });
    const tools = [...GIT, showing('cancel', 'Number, e.g. A-310'), showing('refund', 'Number, e.g. O-12')];
    const [first, ...rest] = search(tools, 'delete a-7 from the workspace history');
    expect(first).toMatchObject({ tool: { name: 'cancel' }, why: [{ asked: 'a-7', word: 'a-7 → A-310' }] });
    expect(names(rest)).not.toContain('refund');
    expect(names(search(tools, 'B-7'))).toEqual([]);
  });

  it.each([
    ['a Chinese word', '删除文件', 'file_delete', '删除 → delete'],
    ['another form of the word', 'deleting files', 'file_delete', 'deleting → delete'],
    ['a slip of the pen', 'git brnach', 'git_branch_create', 'brnach → branch'],
    ['the beginning of a word', 'comm history', 'git_log', 'comm → commits'],
    ['an alias', 'rm build.log', 'file_delete', 'rm'],
  ])('finds a tool by %s and names both words', (_, query, name, word) => {
    const [first] = search(GIT, query);
    expect(first?.tool.name).toBe(name);
    expect(first?.why.map((one) => one.word)).toContain(word);
  });

  it.each(['xylophone', '', '?!', '的', 'the of and', '天气'])('finds nothing for "%s"', (query) => {
    expect(search(GIT, query)).toEqual([]);
  });

  it.each(['file_read', 'use file_read on the file'])('puts the tool first that is named in "%s"', (query) => {
    expect(names(search(GIT, query))[0]).toBe('file_read');
  });

  it('puts no tool first whose description alone holds all words of a long request', () => {
    const asked = 'Move the meeting with the plumber from Monday to Friday and tell Anna';
    const tools = [
      makeTool('lottery', { description: `Draws a number. ${asked}.` }),
      makeTool('move_meeting', { description: 'Puts an event on another day, Monday to Friday.' }),
      ...['read_mail', 'play_song', 'book_room'].map((name) => makeTool(name, { description: 'Does it.' })),
    ];
    expect(names(search(tools, asked)).slice(0, 2)).toEqual(['move_meeting', 'lottery']);
  });

  it('scores the share of the query that a tool covers', () => {
    const scoreOf = (query: string) => search(GIT, query)[0]?.score ?? 0;
    expect(scoreOf('note_save')).toBeGreaterThan(0.9);
    expect(scoreOf('save a note with xylophones, zithers and bagpipes')).toBeLessThan(0.6);
  });

  it('keeps the order of the catalogue between equals, and the limit', () => {
    const equal = ['c', 'a', 'b'].map((name) => makeTool(`${name}1`, { description: 'zebra' }));
    expect(names(search(equal, 'zebra'))).toEqual(['c1', 'a1', 'b1']);
    expect(names(search(equal, 'zebra', { limit: 2 }))).toEqual(['c1', 'a1']);
  });

  it('gives a whole match more than half a one', () => {
    const [whole, half] = search(GIT, 'create branch');
    expect(whole?.tool.name).toBe('git_branch_create');
    expect(whole?.score).toBeGreaterThan((half?.score ?? 0) * 1.5);
  });

  it('can limit each layer apart', () => {
    const layers = [
      layerOf(GIT),
      layerOf([makeTool('my_log', { description: 'commits' }), makeTool('my_other', { description: 'commits' })]),
    ];
    const found = ranked('commits', layers, { limit: 3, limits: [2, 1], synonyms: NO_SYNONYMS });
    expect(names(found).filter((name) => name.startsWith('my_'))).toHaveLength(1);
    expect(found).toHaveLength(3);
  });

  it.each([
    ['Japanese', 'ファイルを削除する', 'ファイルの削除'],
    ['Thai', 'ลบไฟล์', 'โปรดลบไฟล์นี้'],
    ['Chinese', '查询水库水位过程', '水库水位'],
  ])('finds a tool that is described in %s', (_, description, query) => {
    const tools = [makeTool('one'), makeTool('other', { description })];
    expect(names(search(tools, query, { synonyms: NO_SYNONYMS }))).toEqual(['other']);
  });

  it('uses the synonyms of a catalogue besides the general ones', () => {
    expect(search(GIT, 'gitlog please')).toEqual([]);
    const own = createSynonymTable([{ words: ['gitlog'], means: ['commit history'] }]);
    expect(names(search(GIT, 'gitlog please', { synonyms: own }))[0]).toBe('git_log');
  });
});

describe('what use has taught', () => {
  const learnt: Learnt = {
    boost: (name) => (name === 'file_read' ? 1.3 : 1),
    toolsOf: (term) => new Map(term === 'frob' ? [['git_log', 0.9]] : []),
  };

  it('raises a tool that matches', () => {
    const [plain] = search(GIT, 'read text').filter(({ tool }) => tool.name === 'file_read');
    const [raised] = search(GIT, 'read text', { learnt }).filter(({ tool }) => tool.name === 'file_read');
    expect(raised?.score).toBeGreaterThan(plain?.score ?? 1);
    expect(names(search(GIT, 'delete a branch', { learnt }))).not.toContain('note_save');
  });

  it('lets a word stand for a tool, and says that it was learnt', () => {
    expect(search(GIT, 'frob')).toEqual([]);
    expect(search(GIT, 'frob', { learnt })).toMatchObject([
      { tool: { name: 'git_log' }, why: [{ word: 'frob', fields: ['learnt'] }] },
    ]);
  });

  it('shows no tool that may not be seen', () => {
    const layers = [layerOf(GIT, (tool) => tool.name !== 'git_log')];
    expect(ranked('frob', layers, { limit: 5, synonyms: SYNONYMS, learnt })).toEqual([]);
  });
});

describe('hidden tools', () => {
  const hidden = [
    makeTool('brnach', {
      description: 'comm',
      keywords: ['read text', ...Array.from({ length: 60 }, (_, place) => `commaa${place}`)],
    }),
  ];
  const isVisible = (tool: Tool) => !hidden.includes(tool);

  it.each(['brnach', 'comm', 'read text', 'commaa'])('do not make "%s" a known word', (query) => {
    const options = { limit: 5, synonyms: SYNONYMS };
    expect(ranked(query, [layerOf([...hidden, ...GIT], isVisible)], options)).toEqual(
      ranked(query, [layerOf(GIT)], options),
    );
  });

  it('do not tell how they write a word that others have, too', () => {
    const first = makeTool('first', { description: 'Deleting branches.' });
    const layers = [layerOf([first, ...GIT], (tool) => tool !== first)];
    const found = ranked('delete', layers, { limit: 5, synonyms: SYNONYMS });
    expect(found.length).toBeGreaterThan(0);
    expect(JSON.stringify(found.map(({ why }) => why))).not.toContain('deleting');
  });

  it('leave no trace: the answer is that of a catalogue without them', async () => {
    const { tools } = (await loadFixture('coding-agent')).catalog;
    const words = [
      'rename',
      'git',
      'commit',
      'brnach',
      '水库',
      '查询',
      'file',
      'delte',
      'mail',
      'send',
      'read',
      'note',
      'sched',
      'plan',
    ];
    const query = fc.array(fc.constantFrom(...words), { minLength: 1, maxLength: 4 }).map((parts) => parts.join(' '));
    const hidden = fc.uniqueArray(fc.nat({ max: tools.length - 1 }), { maxLength: tools.length });
    fc.assert(
      fc.property(hidden, query, (places, asked) => {
        const isHidden = new Set(places.map((place) => tools[place]));
        const options = { limit: 5, synonyms: SYNONYMS };
        const withHidden = ranked(asked, [layerOf(tools, (tool) => !isHidden.has(tool))], options);
        const without = ranked(asked, [layerOf(tools.filter((tool) => !isHidden.has(tool)))], options);
        expect(withHidden).toEqual(without);
      }),
      { numRuns: 6 },
    );
  });
});

it('a search leaves nothing behind for the next one', () => {
  const layer = layerOf(GIT);
  const options = { limit: 5, synonyms: SYNONYMS };
  const first = ranked('delete the commit history of a branch', [layer], options);
  for (const query of ['check in', 'git commit', 'brnach', '文件']) ranked(query, [layer], options);
  expect(ranked('delete the commit history of a branch', [layer], options)).toEqual(first);
});
