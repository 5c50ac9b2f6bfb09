/** The form of a prompt file: its two parts, and lines that mark where `winnow tune` puts worked examples. */
import { WinnowError } from '../errors.js';

export interface PromptParts {
  /** What stays the same between requests. */
  readonly system: string;
  readonly user: string;
}

const PARTS = /^<!-- system -->\n([\s\S]*?)\n<!-- user -->\n([\s\S]*)$/u;

/** Both parts without white space around them. @throws WinnowError `prompt_invalid` for a text without them, saying where */
export function splitPrompt(text: string, where: string): PromptParts {
  const [, system = '', user = ''] = PARTS.exec(text.replaceAll('\r\n', '\n')) ?? [];
  if (withoutMarks(system) === '' || user.trim() === '') {
    throw new WinnowError(
      'prompt_invalid',
      `${where}: needs a line "<!-- system -->" at the top and a line "<!-- user -->" further down, each with text below it.`,
    );
  }
  return { system: system.trim(), user: user.trim() };
}

/** The text of the file. */
export function joinPrompt({ system, user }: PromptParts): string {
  return `<!-- system -->\n${system}\n<!-- user -->\n${user}\n`;
}

/** The line behind which the examples stand. */
export const EXAMPLES_MARK = '<!-- examples -->';
export const EXAMPLES_END = '<!-- end of examples -->';
const MARKS = new RegExp(`^${EXAMPLES_MARK}\\n(?:${EXAMPLES_END}\\n\\n?)?|^${EXAMPLES_END}\\n`, 'gmu');

/** A part as a model sees it. */
export function withoutMarks(part: string): string {
  return `${part}\n`.replace(MARKS, '').trim();
}
