/** The prompts, each with its placeholders; a file given by path takes the place of its default. */
import { WinnowError } from '../errors.js';
import { loadPrompt } from './prompt-template.js';

/** Name of a prompt -> path of the file to use. */
export interface PromptPaths {
  'select-tools'?: string | undefined;
  'plan-steps'?: string | undefined;
  'rerank-tools'?: string | undefined;
  'explain-choice'?: string | undefined;
  'judge-fit'?: string | undefined;
  repair?: string | undefined;
}

/** Those of the planner. @throws WinnowError `prompt_invalid` */
export function loadPrompts(paths: PromptPaths = {}) {
  const names = ['select-tools', 'plan-steps', 'rerank-tools', 'explain-choice', 'judge-fit', 'repair'];
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
    explain: loadPrompt({
      name: 'explain-choice',
      system: ['system'],
      user: ['user', 'names'],
      path: paths['explain-choice'],
    }),
    fit: loadPrompt({
      name: 'judge-fit',
      system: [],
      user: ['tools', 'context', 'message'],
      lead: ['tools'],
      path: paths['judge-fit'],
    }),
    repair: loadRepairPrompt(paths.repair),
  };
}

/** With it whoever asks a model asks once more where the answer can't be used. @throws WinnowError `prompt_invalid` */
export function loadRepairPrompt(path?: string) {
  return loadPrompt({ name: 'repair', system: ['system'], user: ['user', 'answer', 'issues'], path });
}

/** With it a model gives its opinion on what a search found; only `routing/` needs it. @throws WinnowError `prompt_invalid` */
export function loadRerankPrompt(path?: string) {
  return loadPrompt({ name: 'rerank-tools', system: [], user: ['tools', 'query'], path });
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

/** With it a chat model of LangChain's kind takes a step of an agent; only `langchain/` needs it. @throws WinnowError `prompt_invalid` */
export function loadStepPrompt(path?: string) {
  return loadPrompt({ name: 'agent-step', system: ['instructions', 'tools'], user: ['conversation'], path });
}
