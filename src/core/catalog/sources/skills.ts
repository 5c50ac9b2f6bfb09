/**
 * Skills folders: each `SKILL.md` is one tool. Name and description of its front matter are what stage one
 * sees; the whole text after it is shown only when the skill is chosen.
 */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { throwIfCancelled } from '../../errors.js';
import { isObject } from '../schema/json.js';
import type { EntryIssue } from '../tool.js';
import { readText, reasonOf, sourceFailed } from './read.js';
import { createReading, type ReadContext, type SourceFormat, type SourcePart, type SourceReading } from './source.js';

const SKILL_FILE = 'SKILL.md';
const FRONT_MATTER = /^---[ \t]*\r?\n(.*?)\r?\n---[ \t]*(?:\r?\n|$)(.*)$/s;
/** Deeper folders hold a skill's own files. */
const MAX_DEPTH = 6;

export const skillsFormat: SourceFormat = { kind: 'skills', names: /(?:^|[\\/])SKILL\.md$/, read: readSkillsSource };

async function readSkillsSource(path: string, context: ReadContext): Promise<SourceReading> {
  const files = await findSkillFiles(path);
  if (files.length === 0) throw sourceFailed(path, `holds no ${SKILL_FILE}. Give the folder above the skills' folders`);
  const parts: SourcePart[] = [];
  const issues: EntryIssue[] = [];
  for (const file of files) {
    throwIfCancelled(context.signal);
    const place = join(path, file);
    const skill = await parseSkill(await readText(place, context), file);
    if (skill.ok) parts.push({ origin: place, entries: [{ ...skill.entry, origin: path }] });
    else issues.push({ level: 'warning', entry: place, message: skill.problem });
  }
  return createReading(parts, { issues });
}

type ParsedSkill = { ok: true; entry: Record<string, unknown> } | { ok: false; problem: string };

async function parseSkill(text: string, file: string): Promise<ParsedSkill> {
  const fail = (problem: string) => ({ ok: false, problem: `front matter: ${problem}` }) as const;
  const [, matter, instructions = ''] = FRONT_MATTER.exec(text) ?? [];
  if (matter === undefined) return fail('the file must begin with "---", name, description, "---"');
  const { parse } = await import('yaml');
  let parsed: unknown;
  try {
    parsed = parse(matter);
  } catch (error) {
    return fail(`not YAML (a value with a colon needs quotes): ${reasonOf(error)}`);
  }
  if (!isObject(parsed)) return fail('not a list of "key: value"');
  const metadata = { ...Object(parsed.metadata), skill: { file } };
  return { ok: true, entry: { ...parsed, toolType: 'skill', instructions: instructions.trim(), metadata } };
}

/** Paths below the folder, sorted by name so that every run has the same order; a skill's own folder is not searched. */
async function findSkillFiles(root: string, folder = '', depth = 0): Promise<string[]> {
  const entries = await readFolder(root, folder);
  if (entries.some((entry) => entry.isFile() && entry.name === SKILL_FILE)) return [join(folder, SKILL_FILE)];
  if (depth >= MAX_DEPTH) return [];
  const folders = entries.filter((entry) => entry.isDirectory() && !/^\.|^node_modules$/.test(entry.name));
  const names = folders.map((entry) => entry.name).sort();
  const found = await Promise.all(names.map((name) => findSkillFiles(root, join(folder, name), depth + 1)));
  return found.flat();
}

async function readFolder(root: string, folder: string) {
  try {
    return await readdir(join(root, folder), { withFileTypes: true });
  } catch (error) {
    throw sourceFailed(root, `can't be read (${reasonOf(error)}). Check that it is a folder`, error);
  }
}
