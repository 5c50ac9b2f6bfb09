/** Loads the prompts of the table; a file given by path takes the place of its default. */
import { WinnowError } from '../errors.js';
import {
  type PlaceholderOf,
  PROMPTS,
  type PromptName,
  type PromptPlaces,
  REPLACEABLE_NAMES,
  type ReplaceableName,
} from './prompt-table.js';
import { loadPrompt, type PromptTemplate } from './prompt-template.js';

/** Name of a prompt -> path of the file to use. */
export type PromptPaths = { [Name in ReplaceableName]?: string | undefined };

export type NamedPrompt<Name extends PromptName> = PromptTemplate<PlaceholderOf<Name>>;

const TABLE: { readonly [Name in PromptName]: PromptPlaces<PlaceholderOf<Name>> } = PROMPTS;

/** @throws WinnowError `prompt_invalid` */
export function loadNamedPrompt<Name extends PromptName>(name: Name, path?: string): NamedPrompt<Name> {
  return loadPrompt<PlaceholderOf<Name>>({ name, ...TABLE[name], path });
}

/** Those of the planner; others are loaded by who needs them. @throws WinnowError `prompt_invalid` */
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
    arguments: loadNamedPrompt('fill-arguments', paths['fill-arguments']),
    explain: loadNamedPrompt('explain-choice', paths['explain-choice']),
    fit: loadNamedPrompt('judge-fit', paths['judge-fit']),
    fitOfOne: loadNamedPrompt('judge-tool', paths['judge-tool']),
    repair: loadNamedPrompt('repair', paths.repair),
  };
}
