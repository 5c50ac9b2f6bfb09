/**
 * A prompt file taken apart: instructions, worked examples at their marked place, and the part of the request. The
 * examples stand before the tools, so that they belong to what stays the same between requests.
 */
import { createHash } from 'node:crypto';
import { WinnowError } from '../../errors.js';

export const TUNED_PROMPTS = ['select-tools', 'plan-steps'] as const;
export type TunedPrompt = (typeof TUNED_PROMPTS)[number];

export interface PromptDraft {
  readonly name: TunedPrompt;
  /** The stable part without its examples; one line `<!-- examples -->` says where they stand. */
  readonly instructions: string;
  readonly examples: readonly string[];
  /** The part that changes with each request. */
  readonly user: string;
}

/** The line in a prompt file behind which the examples stand. A file without it gets it before its tools. */
export const EXAMPLES_MARK = '<!-- examples -->';
const END_MARK = '<!-- end of examples -->';
const HEADING = 'Worked examples:';

const PARTS = /^<!-- system -->\n([\s\S]*?)\n<!-- user -->\n([\s\S]*)$/u;
const BLOCK = /<!-- examples -->\n(?:([\s\S]*?)\n)?<!-- end of examples -->/u;
const PLACEHOLDER = /\{\{\w+\}\}/gu;
const FIRST_OF_TOOLS: Readonly<Record<TunedPrompt, string>> = {
  'select-tools': '{{summaries}}',
  'plan-steps': '{{tools}}',
};

/** @throws WinnowError `prompt_invalid` for a text without its two parts. */
export function parseDraft(name: TunedPrompt, text: string): PromptDraft {
  const [, system, user] = PARTS.exec(text.replaceAll('\r\n', '\n')) ?? [];
  if (system === undefined || user === undefined) {
    throw new WinnowError(
      'prompt_invalid',
      `The prompt ${name} needs the lines "<!-- system -->" and "<!-- user -->".`,
    );
  }
  const block = BLOCK.exec(system)?.[1] ?? '';
  const instructions = system.trim().replace(BLOCK, EXAMPLES_MARK);
  return {
    name,
    instructions: instructions.includes(EXAMPLES_MARK) ? instructions : withMark(instructions, FIRST_OF_TOOLS[name]),
    examples: block.split('\n\n').filter((part) => part.trim() !== '' && part !== HEADING),
    user,
  };
}

/** Before the paragraph with the tools and the line that announces it. */
function withMark(instructions: string, placeholder: string): string {
  const paragraphs = instructions.split('\n\n');
  const tools = paragraphs.findIndex((paragraph) => paragraph.includes(placeholder));
  const isAnnounced = /^[^\n]*:$/u.test(paragraphs[tools - 1] ?? '');
  return paragraphs.toSpliced(Math.max(0, isAnnounced ? tools - 1 : tools), 0, EXAMPLES_MARK).join('\n\n');
}

/** The text of the file. */
export function renderDraft({ instructions, examples, user }: PromptDraft): string {
  const block = examples.length === 0 ? [] : [[HEADING, ...examples].join('\n\n')];
  const marked = [EXAMPLES_MARK, ...block, END_MARK].join('\n');
  return `<!-- system -->\n${instructions.replace(EXAMPLES_MARK, () => marked)}\n<!-- user -->\n${user}`;
}

/** What a model sees of a file: lines that mark parts are not sent. */
export function withoutMarks(text: string): string {
  return text.replace(/^<!-- .* -->\n/gmu, '');
}

/** What of the parts and places a new wording does not keep, one problem a line. */
export function findBrokenPlaces(before: string, after: string): string[] {
  const wanted = [...countsOf(before)].filter(([place, count]) => countsOf(after).get(place) !== count);
  const added = [...countsOf(after).keys()].filter((place) => !countsOf(before).has(place));
  return [
    ...wanted.map(
      ([place, count]) => `instructions: "${place}" must stand there ${count === 1 ? 'once' : `${count} times`}`,
    ),
    ...added.map((place) => `instructions: "${place}" is not known here; take it out`),
    ...(/<!-- (?!examples -->)/u.test(after)
      ? ['instructions: no other line of the form "<!-- … -->" may stand there']
      : []),
  ];
}

function countsOf(text: string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const [place] of text.matchAll(PLACEHOLDER)) counts.set(place, (counts.get(place) ?? 0) + 1);
  counts.set(EXAMPLES_MARK, text.split(EXAMPLES_MARK).length - 1);
  return counts;
}

export function hashOf(...parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 16);
}
