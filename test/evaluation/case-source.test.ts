import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { createCatalog } from '../../src/core/catalog/catalog.js';
import { type CaseFilter, openCases } from '../../src/evaluation/case-source.js';
import { createTool } from '../support/create-tool.js';
import { aFolder } from './setup.js';

const TOOLS = [
  createTool('a', { properties: { x: {} } }),
  createTool('b'),
  createTool('open', { properties: { x: {} }, additionalProperties: true }),
  // Of one user, under the name of another's.
  createTool('a', { properties: { own: {} } }, undefined, { scope: { user: 'alice' } }),
];
const catalog = createCatalog(TOOLS, { name: 'tools' });
const aLine = (id: string, more: Record<string, unknown> = {}) =>
  JSON.stringify({ id, query: 'q', expectedTools: ['a'], ...more });

function aSuite(name: string, lines: readonly string[]) {
  const caseFile = join(aFolder(), `${name}.jsonl`);
  writeFileSync(caseFile, `${lines.join('\n')}\n`);
  return { name, catalog, caseFile };
}

async function idsOf(lines: readonly string[], filter: Partial<CaseFilter> = {}): Promise<string[]> {
  const source = await openCases([aSuite('set', lines)], { seed: 1, ...filter });
  const ids = [];
  for await (const { id } of source.cases()) ids.push(id);
  expect(source.total).toBe(ids.length);
  return ids;
}

const MANY = Array.from({ length: 40 }, (_, place) =>
  aLine(`c${place}`, { tags: place % 2 === 0 ? ['even', 'x'] : ['odd'] }),
);

describe('the cases of a run', () => {
  it('come in the order of their lines, empty lines left out', async () => {
    expect(await idsOf([aLine('c1'), '', aLine('c2')])).toEqual(['c1', 'c2']);
  });

  it.each<[string, Partial<CaseFilter>, (ids: string[]) => boolean]>([
    ['a tag', { tags: ['even'] }, (ids) => ids.length === 20 && ids.every((id) => Number(id.slice(1)) % 2 === 0)],
    ['one of several tags', { tags: ['x', 'odd'] }, (ids) => ids.length === 40],
    ['ids', { ids: new Set(['c3', 'c30']) }, (ids) => ids.join() === 'c3,c30'],
    ['a limit', { limit: 2 }, (ids) => ids.join() === 'c0,c1'],
    ['a sample', { sample: 5 }, (ids) => ids.length === 5],
    ['all of them', { tags: ['odd'], sample: 6, limit: 3 }, (ids) => ids.length === 3],
  ])('can be limited by %s', async (_, filter, isRight) => {
    expect(isRight(await idsOf(MANY, filter))).toBe(true);
  });

  it('are the same sample for the same seed, and another for another', async () => {
    const [first, again, other] = await Promise.all([1, 1, 2].map((seed) => idsOf(MANY, { sample: 8, seed })));
    expect(again).toEqual(first);
    expect(other).not.toEqual(first);
  });

  it('are sampled in each set', async () => {
    const sets = [
      aSuite('one', MANY),
      aSuite(
        'two',
        MANY.map((line) => line.replace('"c', '"d')),
      ),
    ];
    expect((await openCases(sets, { seed: 1, sample: 3 })).total).toBe(6);
  });

  const noticesOf = async (lines: readonly string[], more: Partial<CaseFilter> = {}) => {
    const { notices } = await openCases([aSuite('set', lines)], { seed: 1, ...more });
    return notices.map((text) => text.replace(/^\/\S+\//u, ''));
  };

  it('are told of, where fields are not known or tools do not exist, with line, field and name', async () => {
    const lines = [
      aLine('c1', { expected: 1 }),
      aLine('c2', { expectedTools: ['gone', 'a'], alternatives: ['lost', 'b'], meta: { candidates: ['a', 'away'] } }),
      aLine('c3', { alternatives: [['b', 'lost']], candidates: ['gone'] }),
    ];
    expect(await noticesOf(lines)).toEqual([
      'set.jsonl: the field "expected" is not known, and is left out of account (1 lines)',
      'set.jsonl:2 expectedTools: "gone" is no tool of the catalogue "tools"',
      'set.jsonl:2 alternatives: "lost" is no tool of the catalogue "tools"',
      'set.jsonl:2 candidates: "away" is no tool of the catalogue "tools"',
      'set.jsonl:3 alternatives: "lost" is no tool of the catalogue "tools"',
      'set.jsonl:3 candidates: "gone" is no tool of the catalogue "tools"',
    ]);
    expect(await noticesOf(lines, { ids: new Set(['c1']) })).toHaveLength(1);
  });

  it('are told of ten times, and how many more there are', async () => {
    const lines = Array.from({ length: 13 }, (_, place) => aLine(`c${place}`, { expectedTools: ['gone'] }));
    const notices = await noticesOf(lines);
    expect(notices).toHaveLength(11);
    expect(notices.slice(-2)).toEqual([
      'set.jsonl:10 expectedTools: "gone" is no tool of the catalogue "tools"',
      'and 3 more names that are no tools',
    ]);
  });

  it('are told of once, where steps name arguments that their tools lack', async () => {
    const step = (tool: string, ...names: string[]) => ({
      expectedSteps: [{ tool, arguments: Object.fromEntries(names.map((name) => [name, 1])) }],
    });
    const lines = [
      aLine('c1', step('a', 'x', 'own')),
      aLine('c2', { expectedTools: ['open'], ...step('open', 'x', 'more') }),
      aLine('c3', { expectedTools: ['gone'], ...step('gone', 'x') }),
    ];
    expect(await noticesOf(lines)).toEqual(['set.jsonl:3 expectedTools: "gone" is no tool of the catalogue "tools"']);
    const wrong = [aLine('c1', step('a', 'x', 'y')), aLine('c2', step('a', 'z'))];
    const first = 'set.jsonl:1 expectedSteps.0.arguments.y is no argument of its tool';
    expect(await noticesOf(wrong.slice(0, 1))).toEqual([`${first}; such names in the file: 1`]);
    expect(await noticesOf(wrong)).toEqual([`${first}; such names in the file: 2`]);
  });

  it('have a hash that changes with any line', async () => {
    const hashOf = async (lines: string[]) => (await openCases([aSuite('set', lines)], { seed: 1 })).hashes.set;
    expect(await hashOf([aLine('c1')])).toBe(await hashOf([aLine('c1')]));
    expect(await hashOf([aLine('c1')])).not.toBe(await hashOf([aLine('c1', { lang: 'en' })]));
  });
});

describe('a run is refused', () => {
  it('for a bad line, also one that is not taken', async () => {
    await expect(idsOf([aLine('c1'), '{'], { limit: 1 })).rejects.toThrow(/set\.jsonl:2 is no usable case/u);
  });

  it('for an id that is there twice, naming both places', async () => {
    const suites = [aSuite('one', [aLine('c1')]), aSuite('two', [aLine('c0'), aLine('c1')])];
    await expect(openCases(suites, { seed: 1 })).rejects.toThrow(
      /two\.jsonl:2 id: "c1" is also the id of .*one\.jsonl:1/u,
    );
  });

  it('for a case without candidates where they are asked for', async () => {
    const lines = [aLine('c1', { candidates: ['a'] }), aLine('c2')];
    await expect(idsOf(lines, { needsCandidates: true })).rejects.toThrow(/set\.jsonl:2 candidates: /u);
  });

  it('where no case is left', async () => {
    await expect(idsOf(MANY, { tags: ['none'] })).rejects.toMatchObject({ code: 'invalid_option' });
  });

  it('for a file without a case, whatever the filter', async () => {
    await expect(idsOf(['', ' '], { tags: ['none'] })).rejects.toThrow(/The file .*set\.jsonl holds no case\./u);
  });

  it('for a file that is not there', async () => {
    const suite = { name: 'set', catalog, caseFile: 'none.jsonl' };
    await expect(openCases([suite], { seed: 1 })).rejects.toMatchObject({
      code: 'not_found',
      message: expect.stringContaining('none.jsonl'),
    });
  });
});
