/** The table of prompts: each is the file of its name in `prompts/`, with the placeholders of its two parts. */
import { WinnowError } from '../errors.js';
import { loadPrompt, type PromptPlaces, type PromptTemplate } from './prompt-template.js';

/** Prompts that a user's own file may replace, in the configuration and by `--prompt`. */
const REPLACEABLE = {
  'select-tools': { system: ['none', 'summaries'], user: ['context', 'message'] },
  'plan-steps': {
    system: ['tools'],
    user: ['context', 'today', 'locale', 'message'],
  },
  'split-asks': { system: [], user: ['context', 'message'] },
  'choose-tool': { system: ['none'], user: ['tools', 'context', 'message'], lead: ['tools'] },
  'check-fit': { system: [], user: ['context', 'message', 'tool'] },
  'check-item': { system: [], user: ['context', 'message', 'call'] },
  'fill-arguments': { system: [], user: ['tool', 'facts', 'context', 'message'], lead: ['tool'] },
  /** A model's opinion on what a search found. */
  'rerank-tools': { system: [], user: ['tools', 'query'] },
  /** Asks once more where an answer can't be used. */
  repair: { system: ['system'], user: ['user', 'answer', 'issues'] },
} as const;

export const PROMPTS = {
  ...REPLACEABLE,
  /** Another wording of a prompt, for `winnow tune`. */
  'propose-wording': { system: [], user: ['instructions', 'failures', 'tried', 'words'] },
  /** One step of an agent by LangChain's chat model. */
  'agent-step': { system: ['instructions', 'tools'], user: ['conversation'] },
} as const satisfies Readonly<Record<string, PromptPlaces<string>>>;

export type PromptName = keyof typeof PROMPTS;
export type ReplaceableName = keyof typeof REPLACEABLE;
export const REPLACEABLE_NAMES = Object.keys(REPLACEABLE) as ReplaceableName[];

/** Name of a prompt -> path of the file to use. */
export type PromptPaths = { [Name in ReplaceableName]?: string | undefined };

type PlaceholderOf<Name extends PromptName> = (typeof PROMPTS)[Name]['system' | 'user'][number];
export type NamedPrompt<Name extends PromptName> = PromptTemplate<PlaceholderOf<Name>>;

const PLACES: { readonly [Name in PromptName]: PromptPlaces<PlaceholderOf<Name>> } = PROMPTS;

/** @throws WinnowError `prompt_invalid` */
export function loadNamedPrompt<Name extends PromptName>(name: Name, path?: string): NamedPrompt<Name> {
  return loadPrompt<PlaceholderOf<Name>>({ name, ...PLACES[name], path });
}

/** Loads the planner's prompts; others are loaded where they are needed. @throws WinnowError `prompt_invalid` */
export type Prompts = ReturnType<typeof loadPrompts>;

export function loadPrompts(paths: PromptPaths = {}) {
  const names: readonly string[] = REPLACEABLE_NAMES;
  const unknown = Object.keys(paths).find((name) => !names.includes(name));
  if (unknown !== undefined)
    throw new WinnowError('prompt_invalid', `There is no prompt "${unknown}"; there are ${names.join(', ')}.`);
  return {
    select: loadNamedPrompt('select-tools', paths['select-tools']),
    plan: loadNamedPrompt('plan-steps', paths['plan-steps']),
    asks: loadNamedPrompt('split-asks', paths['split-asks']),
    tool: loadNamedPrompt('choose-tool', paths['choose-tool']),
    fit: loadNamedPrompt('check-fit', paths['check-fit']),
    item: loadNamedPrompt('check-item', paths['check-item']),
    arguments: loadNamedPrompt('fill-arguments', paths['fill-arguments']),
    repair: loadNamedPrompt('repair', paths.repair),
  };
}
