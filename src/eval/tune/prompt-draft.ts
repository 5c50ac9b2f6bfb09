/**
 * A parsed prompt file: instructions, worked examples at their mark, and the part of the request. Examples come before the
 * tools, so that they belong to the stable part.
 */
import type { Model } from '../../core/model/model.js';
import { EXAMPLES_END, EXAMPLES_MARK, splitPrompt, withoutMarks } from '../../core/prompts/prompts.js';

/** The placeholder of the tools in each prompt. */
const TOOLS = { 'select-tools': '{{summaries}}', 'plan-steps': '{{tools}}' } as const;
export type TunedPrompt = keyof typeof TOOLS;
export const TUNED_PROMPTS = ['select-tools', 'plan-steps'] as const satisfies readonly TunedPrompt[];

export interface PromptDraft {
  readonly name: TunedPrompt;
  /** The stable part without its examples; the line `<!-- examples -->` marks their place. */
  readonly instructions: string;
  readonly examples: readonly string[];
  /** The part that changes with each request. */
  readonly user: string;
}

const HEADING = 'Worked examples:';
const BLOCK = new RegExp(`${EXAMPLES_MARK}\\n(?:([\\s\\S]*?)\\n)?${EXAMPLES_END}`, 'u');

/** @throws WinnowError `prompt_invalid` for a text without its two parts. */
export function parseDraft(name: TunedPrompt, text: string): PromptDraft {
  const { system, user } = splitPrompt(text, `The prompt ${name}`);
  const examples = (BLOCK.exec(system)?.[1] ?? '').split('\n\n');
  const instructions = system.replace(BLOCK, EXAMPLES_MARK);
  return {
    name,
    instructions: instructions.includes(EXAMPLES_MARK) ? instructions : withMark(instructions, TOOLS[name]),
    examples: examples.filter((part) => part.trim() !== '' && part !== HEADING),
    user,
  };
}

/** Adds a missing mark before the paragraph with the tools and its introducing line. */
function withMark(instructions: string, placeholder: string): string {
  const paragraphs = instructions.split('\n\n');
  const tools = paragraphs.findIndex((paragraph) => paragraph.includes(placeholder));
  const isAnnounced = /^[^\n]*:$/u.test(paragraphs[tools - 1] ?? '');
  return paragraphs.toSpliced(Math.max(0, isAnnounced ? tools - 1 : tools), 0, EXAMPLES_MARK).join('\n\n');
}

/** The text of the file. */
export function renderDraft({ instructions, examples, user }: PromptDraft): string {
  const block = examples.length === 0 ? [] : [[HEADING, ...examples].join('\n\n')];
  const marked = [EXAMPLES_MARK, ...block, EXAMPLES_END].join('\n');
  return `<!-- system -->\n${instructions.replace(EXAMPLES_MARK, () => marked)}\n<!-- user -->\n${user}\n`;
}

/** Tokens of a file without what the model does not see. */
export function countSeenTokens(text: string, model: Pick<Model, 'countTokens'>): number {
  const { system, user } = splitPrompt(text, 'The prompt');
  return model.countTokens(`${withoutMarks(system)}\n${withoutMarks(user)}`);
}

/** Placeholders that a new wording changes, one problem a line. */
export function findBrokenPlaces(before: string, after: string): string[] {
  const [wanted, got] = [countPlaces(before), countPlaces(after)];
  const lost = [...wanted].filter(([place, count]) => got.get(place) !== count);
  const added = [...got.keys()].filter((place) => !wanted.has(place));
  const hasMark = /<!-- (?!examples -->)/u.test(after);
  return [
    ...lost.map(([place, count]) => `"${place}" must stand there ${count === 1 ? 'once' : `${count} times`}`),
    ...added.map((place) => `"${place}" is not known here; take it out`),
    ...(hasMark ? ['no other line of the form "<!-- … -->" may stand there'] : []),
  ].map((issue) => `instructions: ${issue}`);
}

function countPlaces(text: string): Map<string, number> {
  const counts = new Map([[EXAMPLES_MARK, text.split(EXAMPLES_MARK).length - 1]]);
  for (const [place] of text.matchAll(/\{\{\w+\}\}/gu)) counts.set(place, (counts.get(place) ?? 0) + 1);
  return counts;
}
