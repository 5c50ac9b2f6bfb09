/** The prompts, each with its placeholders; a file given by path takes the place of its default. */
import { WinnowError } from '../errors.js';
import { loadPrompt } from './prompt-template.js';

/** Name of a prompt -> path of the file to use. */
export interface PromptPaths {
  'select-tools'?: string | undefined;
  'plan-steps'?: string | undefined;
  'rerank-tools'?: string | undefined;
  'explain-choice'?: string | undefined;
  repair?: string | undefined;
}

/** @throws WinnowError `prompt_invalid` */
export function loadPrompts(paths: PromptPaths = {}) {
  const names = ['select-tools', 'plan-steps', 'rerank-tools', 'explain-choice', 'repair'];
  const unknown = Object.keys(paths).find((name) => !names.includes(name));
  if (unknown !== undefined)
    throw new WinnowError('prompt_invalid', `There is no prompt "${unknown}"; there are ${names.join(', ')}.`);
  return {
    select: loadPrompt({
      name: 'select-tools',
      system: ['none', 'summaries'],
      user: ['context', 'message'],
      path: paths['select-tools'],
    }),
    plan: loadPrompt({
      name: 'plan-steps',
      system: ['tools', 'further'],
      user: ['context', 'awaited', 'likely', 'today', 'locale', 'message'],
      path: paths['plan-steps'],
    }),
    rerank: loadPrompt({ name: 'rerank-tools', system: [], user: ['tools', 'query'], path: paths['rerank-tools'] }),
    explain: loadPrompt({
      name: 'explain-choice',
      system: ['system'],
      user: ['user', 'names'],
      path: paths['explain-choice'],
    }),
    repair: loadPrompt({ name: 'repair', system: ['system'], user: ['user', 'answer', 'issues'], path: paths.repair }),
  };
}

/** With it a model proposes another wording of a prompt; only `winnow tune` needs it. @throws WinnowError `prompt_invalid` */
export function loadProposalPrompt(path?: string) {
  return loadPrompt({
    name: 'propose-wording',
    system: [],
    user: ['instructions', 'failures', 'tried', 'words'],
    path,
  });
}
