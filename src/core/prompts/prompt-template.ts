/**
 * Prompt text lives in `prompts/*.md`; code only fills named placeholders. A missing or unknown placeholder is
 * an error when the file is loaded, not when a request comes.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { WinnowError } from '../errors.js';
import { splitPrompt, withoutMarks } from './prompt-file.js';
import type { PromptPlaces } from './prompt-table.js';

export interface PromptTemplate<Name extends string> {
  readonly name: string;
  /** First 12 hexadecimal digits of the SHA-256 of the file. */
  readonly hash: string;
  render(values: Readonly<Record<Name, string>>): { system: string; user: string; lead?: string };
}

export interface PromptSource<Name extends string> extends PromptPlaces<Name> {
  /** File name without `.md`. */
  readonly name: string;
  /** Another file in place of the one in `prompts/`. */
  readonly path?: string | undefined;
}

const PLACEHOLDER = /\{\{(\w+)\}\}/gu;

/** @throws WinnowError `prompt_invalid` naming the file and the placeholder. */
export function loadPrompt<Name extends string>(source: PromptSource<Name>): PromptTemplate<Name> {
  const path = source.path ?? defaultPromptPath(source.name);
  const text = readPrompt(path);
  const parts = splitPrompt(text, path);
  const [system, user] = [withoutMarks(parts.system), withoutMarks(parts.user)];
  checkPlaceholders(path, system, { part: 'system', expected: source.system });
  checkPlaceholders(path, user, { part: 'user', expected: source.user });
  return {
    name: source.name,
    hash: createHash('sha256').update(text).digest('hex').slice(0, 12),
    render: (values) => ({
      system: fill(system, values),
      user: fill(user, values),
      ...(source.lead ? { lead: fill(leadOf(user, source.lead), values) } : {}),
    }),
  };
}

function leadOf(user: string, stable: readonly string[]): string {
  const changing = [...user.matchAll(PLACEHOLDER)].find(([, name = '']) => !stable.includes(name));
  return user.slice(0, changing?.index);
}

/** The file in `prompts/`. */
export function defaultPromptPath(name: string): string {
  return fileURLToPath(new URL(`../../../prompts/${name}.md`, import.meta.url));
}

/** With the line ends of Unix. @throws WinnowError `prompt_invalid` when it can't be read. */
export function readPrompt(path: string): string {
  try {
    return readFileSync(path, 'utf8').replaceAll('\r\n', '\n');
  } catch (error) {
    throw new WinnowError('prompt_invalid', `The prompt file ${path} can't be read.`, { cause: error });
  }
}

function checkPlaceholders(path: string, text: string, wanted: { part: string; expected: readonly string[] }): void {
  const found = new Set([...text.matchAll(PLACEHOLDER)].map((match) => match[1] ?? ''));
  const missing = wanted.expected.filter((name) => !found.has(name)).map((name) => `{{${name}}} is missing`);
  const unknown = [...found].filter((name) => !wanted.expected.includes(name)).map((name) => `{{${name}}} is unknown`);
  const issues = [...missing, ...unknown];
  if (issues.length > 0) {
    throw new WinnowError('prompt_invalid', `${path}, ${wanted.part} part: ${issues.join('; ')}.`, { issues });
  }
}

function fill(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(PLACEHOLDER, (_, name: string) => values[name] ?? '');
}
