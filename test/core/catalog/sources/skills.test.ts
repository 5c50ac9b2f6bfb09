import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { parseReading } from '../../../../src/core/catalog/sources/entries.js';
import { skillsFormat } from '../../../../src/core/catalog/sources/skills.js';
import { renderSummary } from '../../../../src/core/catalog/summary.js';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'winnow-skills-'));
});
afterEach(() => rm(folder, { recursive: true }));

async function write(file: string, text: string) {
  await mkdir(dirname(join(folder, file)), { recursive: true });
  await writeFile(join(folder, file), text);
}

async function read(path = folder) {
  const parsed = parseReading(await skillsFormat.read(path, { timeoutMs: 1000 }));
  return { ...parsed, tools: parsed.tools.map(({ tool }) => tool) };
}

describe('a skills folder', () => {
  it('gives one skill for each SKILL.md, sorted by path', async () => {
    const { tools, issues } = await read('fixtures/sources/skills');
    expect(issues).toEqual([]);
    expect(tools.map(({ name, toolType, origin }) => ({ name, toolType, origin }))).toEqual([
      { name: 'pdf-report', toolType: 'skill', origin: 'fixtures/sources/skills' },
      { name: 'translate-text', toolType: 'skill', origin: 'fixtures/sources/skills' },
    ]);
  });

  it('shows name and description at first, and holds the whole text for later', async () => {
    const [skill] = (await read('fixtures/sources/skills')).tools;
    if (!skill) throw new Error('no skill');
    expect(renderSummary(skill, 'whole')).toBe(
      '- pdf-report [documents]: Writes a PDF report from tables and figures. Use it when someone asks for a printable report.',
    );
    expect(skill.instructions).toMatch(/^# PDF report\n[\s\S]*\n---\n\nKeep it under ten pages\.$/);
    expect(skill.metadata).toEqual({ author: 'docs-team', license: 'MIT', skill: { file: 'pdf-report/SKILL.md' } });
  });

  it('may be the folder of one skill', async () => {
    const { tools } = await read('fixtures/sources/skills/pdf-report');
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
    expect((await read()).tools.map(({ name }) => name)).toEqual(['a-SKILL.md']);
  });

  it('reads Windows line ends and a byte order mark', async () => {
    await write('a/SKILL.md', '\uFEFF---\r\nname: a\r\ndescription: d\r\n---\r\nbody\r\n');
    expect((await read()).tools).toMatchObject([{ name: 'a', description: 'd', instructions: 'body' }]);
  });

  it('keeps the type and place that the folder says, whatever the front matter says', async () => {
    await write('a/SKILL.md', '---\nname: a\ntoolType: builtin\norigin: elsewhere\ninstructions: short\n---\nbody');
    expect((await read()).tools).toMatchObject([{ toolType: 'skill', origin: folder, instructions: 'body' }]);
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
    const { tools, issues } = await read();
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
    const path = join(folder, name);
    await expect(read(path)).rejects.toMatchObject({ code: 'source_failed', details: { source: path } });
  });
});
