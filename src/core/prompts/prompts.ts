/**
 * Prompt text lives in `prompts/*.md`; code only fills named placeholders. A missing or unknown placeholder is an error at
 * load time, never at a request.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { WinnowError } from '../errors.js';
import type { Prompt } from '../model/model.js';
import { oneLine } from '../visible-text.js';

/** The placeholders that a prompt must have, of its stable part and of the part that changes with each request. */
interface PromptPlaces {
  readonly system: readonly string[];
  readonly user: readonly string[];
  /** Placeholders of `user` that rarely change. The text before the first other one is the lead. Default: no lead. */
  readonly lead?: readonly string[];
}

const OF_PLANNER = {
  'select-tools': { system: ['none', 'summaries'], user: ['context', 'message'] },
  'plan-steps': { system: ['tools'], user: ['context', 'today', 'locale', 'message'] },
  'split-asks': { system: [], user: ['context', 'message'] },
  'choose-tool': { system: ['none'], user: ['tools', 'context', 'message'], lead: ['tools'] },
  'check-fit': { system: [], user: ['context', 'message', 'tool'] },
  'same-call': { system: [], user: ['tool', 'context', 'message'] },
  'sort-values': { system: [], user: ['call', 'context', 'message'] },
  'fill-arguments': { system: [], user: ['tool', 'facts', 'context', 'message'], lead: ['tool'] },
  /** Asks again where an answer is invalid. */
  repair: { system: ['system'], user: ['user', 'answer', 'issues'] },
} as const;

/** Prompts that a file of the user can replace, by the configuration. */
const REPLACEABLE = {
  ...OF_PLANNER,
  /** Lets a model rank the results of a search. */
  'rerank-tools': { system: [], user: ['tools', 'query'] },
} as const;

export const PROMPTS = {
  ...REPLACEABLE,
  /** Proposes another wording of a prompt, for `winnow tune`. */
  'propose-wording': { system: [], user: ['instructions', 'failures', 'tried', 'words'] },
  /** One step of an agent by LangChain's chat model. */
  'agent-step': { system: ['instructions', 'tools'], user: ['conversation'] },
} as const satisfies Readonly<Record<string, PromptPlaces>>;

export type PromptName = keyof typeof PROMPTS;
export type ReplaceableName = keyof typeof REPLACEABLE;
export const REPLACEABLE_NAMES = Object.keys(REPLACEABLE) as ReplaceableName[];

export type PromptPaths = { [Name in ReplaceableName]?: string | undefined };

export interface NamedPrompt<Name extends PromptName> {
  readonly name: Name;
  /** First 12 hexadecimal digits of the SHA-256 of the file. */
  readonly hash: string;
  render(values: Readonly<Record<(typeof PROMPTS)[Name]['system' | 'user'][number], string>>): Prompt;
}

/** Each of these values is rendered as one line, so that nothing in it passes for another line. The other values are lines. */
const WITHIN_LINE: ReadonlySet<string> = new Set(['message', 'query', 'tool', 'call', 'none', 'today', 'locale']);

const PLACEHOLDER = /\{\{(\w+)\}\}/gu;
const PARTS = /^<!-- system -->\n([\s\S]*?)\n<!-- user -->\n([\s\S]*)$/u;

/** `winnow tune` puts worked examples between these lines; no model sees the lines themselves. */
export const EXAMPLES_MARK = '<!-- examples -->';
export const EXAMPLES_END = '<!-- end of examples -->';
const MARKS = new RegExp(`^${EXAMPLES_MARK}\\n(?:${EXAMPLES_END}\\n\\n?)?|^${EXAMPLES_END}\\n`, 'gmu');

/** @throws WinnowError `prompt_invalid` naming the file and the placeholder. */
export function loadNamedPrompt<Name extends PromptName>(
  name: Name,
  path = defaultPromptPath(name),
): NamedPrompt<Name> {
  const text = readPrompt(path);
  const parts = splitPrompt(text, path);
  const [system, user] = [withoutMarks(parts.system), withoutMarks(parts.user)];
  const places: PromptPlaces = PROMPTS[name];
  checkPlaceholders(system, places.system, `${path}, system part`);
  checkPlaceholders(user, places.user, `${path}, user part`);
  const changing = [...user.matchAll(PLACEHOLDER)].find(([, found = '']) => !places.lead?.includes(found));
  const lead = places.lead && user.slice(0, changing?.index);
  return {
    name,
    hash: createHash('sha256').update(text).digest('hex').slice(0, 12),
    render: (values) => ({
      system: fill(system, values),
      user: fill(user, values),
      ...(lead === undefined ? {} : { lead: fill(lead, values) }),
    }),
  };
}

export type Prompts = { readonly [Name in keyof typeof OF_PLANNER]: NamedPrompt<Name> };

/** @throws WinnowError `prompt_invalid` */
export function loadPrompts(paths: PromptPaths = {}): Prompts {
  const names: readonly string[] = REPLACEABLE_NAMES;
  const unknown = Object.keys(paths).find((name) => !names.includes(name));
  if (unknown !== undefined)
    throw new WinnowError('prompt_invalid', `There is no prompt "${unknown}"; there are ${names.join(', ')}.`);
  const used = Object.keys(OF_PLANNER) as (keyof Prompts)[];
  const loaded = used.map((name) => [name, loadNamedPrompt<keyof Prompts>(name, paths[name])]);
  return Object.fromEntries(loaded);
}

export function defaultPromptPath(name: PromptName): string {
  return fileURLToPath(new URL(`../../../prompts/${name}.md`, import.meta.url));
}

/** Reads the text with line ends of Unix. @throws WinnowError `prompt_invalid` when it can't be read. */
export function readPrompt(path: string): string {
  try {
    return readFileSync(path, 'utf8').replaceAll('\r\n', '\n');
  } catch (error) {
    throw new WinnowError('prompt_invalid', `The prompt file ${path} can't be read.`, { cause: error });
  }
}

/** Both parts, trimmed. @throws WinnowError `prompt_invalid`, naming `where`, for a text without them */
export function splitPrompt(text: string, where: string): Prompt {
  const [, system = '', user = ''] = PARTS.exec(text.replaceAll('\r\n', '\n')) ?? [];
  if (withoutMarks(system) !== '' && user.trim() !== '') return { system: system.trim(), user: user.trim() };
  const form = 'a line "<!-- system -->" at the top and a line "<!-- user -->" further down';
  throw new WinnowError('prompt_invalid', `${where}: needs ${form}, each with text below it.`);
}

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
  return text.replace(PLACEHOLDER, (_, name: string) => {
    const value = values[name] ?? '';
    return WITHIN_LINE.has(name) ? oneLine(value) : value;
  });
}
