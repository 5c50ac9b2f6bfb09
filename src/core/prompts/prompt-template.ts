/**
 * Prompt text lives in `prompts/*.md`; code only fills named placeholders. A missing or unknown placeholder is
 * an error when the file is loaded, not when a request comes.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { WinnowError } from '../errors.js';

export interface PromptTemplate<Name extends string> {
  readonly name: string;
  /** First 12 hexadecimal digits of the SHA-256 of the file. */
  readonly hash: string;
  render(values: Readonly<Record<Name, string>>): { system: string; user: string; lead?: string };
}

/** The placeholders that a prompt must have. */
export interface PromptPlaces<Name extends string> {
  /** Of the stable part. */
  readonly system: readonly Name[];
  /** Of the part that changes with each request. */
  readonly user: readonly Name[];
  /** Those of `user` that are stable: the text before the first of the others is the lead. Default: no lead. */
  readonly lead?: readonly Name[];
}

export interface PromptSource<Name extends string> extends PromptPlaces<Name> {
  /** File name without `.md`. */
  readonly name: string;
  /** Default: the file of that name in `prompts/`. */
  readonly path?: string | undefined;
}

export interface PromptParts {
  readonly system: string;
  readonly user: string;
}

const PLACEHOLDER = /\{\{(\w+)\}\}/gu;
const PARTS = /^<!-- system -->\n([\s\S]*?)\n<!-- user -->\n([\s\S]*)$/u;

/** Between these lines `winnow tune` puts worked examples; no model sees the lines. */
export const EXAMPLES_MARK = '<!-- examples -->';
export const EXAMPLES_END = '<!-- end of examples -->';
const MARKS = new RegExp(`^${EXAMPLES_MARK}\\n(?:${EXAMPLES_END}\\n\\n?)?|^${EXAMPLES_END}\\n`, 'gmu');

/** @throws WinnowError `prompt_invalid` naming the file and the placeholder. */
export function loadPrompt<Name extends string>(source: PromptSource<Name>): PromptTemplate<Name> {
  const path = source.path ?? defaultPromptPath(source.name);
  const text = readPrompt(path);
  const parts = splitPrompt(text, path);
  const [system, user] = [withoutMarks(parts.system), withoutMarks(parts.user)];
  checkPlaceholders(system, source.system, `${path}, system part`);
  checkPlaceholders(user, source.user, `${path}, user part`);
  const { lead } = source;
  const changing = lead && [...user.matchAll(PLACEHOLDER)].find(([, name]) => !lead.some((stable) => stable === name));
  return {
    name: source.name,
    hash: createHash('sha256').update(text).digest('hex').slice(0, 12),
    render: (values) => ({
      system: fill(system, values),
      user: fill(user, values),
      ...(lead ? { lead: fill(user.slice(0, changing?.index), values) } : {}),
    }),
  };
}

/** The file in `prompts/`. */
export function defaultPromptPath(name: string): string {
  return fileURLToPath(new URL(`../../../prompts/${name}.md`, import.meta.url));
}

/** The text with the line ends of Unix. @throws WinnowError `prompt_invalid` when it can't be read. */
export function readPrompt(path: string): string {
  try {
    return readFileSync(path, 'utf8').replaceAll('\r\n', '\n');
  } catch (error) {
    throw new WinnowError('prompt_invalid', `The prompt file ${path} can't be read.`, { cause: error });
  }
}

/** Both parts, trimmed. @throws WinnowError `prompt_invalid` for a text without them, saying where */
export function splitPrompt(text: string, where: string): PromptParts {
  const [, system = '', user = ''] = PARTS.exec(text.replaceAll('\r\n', '\n')) ?? [];
  if (withoutMarks(system) !== '' && user.trim() !== '') return { system: system.trim(), user: user.trim() };
  const form = 'a line "<!-- system -->" at the top and a line "<!-- user -->" further down';
  throw new WinnowError('prompt_invalid', `${where}: needs ${form}, each with text below it.`);
}

/** A part as a model sees it. */
export function withoutMarks(part: string): string {
  return `${part}\n`.replace(MARKS, '').trim();
}

function checkPlaceholders(text: string, expected: readonly string[], where: string): void {
  const found = new Set([...text.matchAll(PLACEHOLDER)].map(([, name = '']) => name));
  const missing = expected.filter((name) => !found.has(name)).map((name) => `{{${name}}} is missing`);
  const unknown = [...found].filter((name) => !expected.includes(name)).map((name) => `{{${name}}} is unknown`);
  const issues = [...missing, ...unknown];
  if (issues.length > 0) throw new WinnowError('prompt_invalid', `${where}: ${issues.join('; ')}.`, { issues });
}

function fill(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(PLACEHOLDER, (_, name: string) => values[name] ?? '');
}
