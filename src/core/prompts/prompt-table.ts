/** The prompts: each is the file of its name in `prompts/`, with the placeholders that must stand in its two parts. */

export interface PromptPlaces<Name extends string> {
  /** Of the stable part. */
  readonly system: readonly Name[];
  /** Of the part that changes with each request. */
  readonly user: readonly Name[];
  /** Of those, what stays the same nevertheless: all before the first of the others is the lead. Default: there is none. */
  readonly lead?: readonly Name[];
}

/** Those that a file of the user's own may replace, in the configuration and by `--prompt`. */
const REPLACEABLE = {
  'select-tools': { system: ['none', 'summaries'], user: ['context', 'message'] },
  'plan-steps': {
    system: ['tools', 'further'],
    user: ['context', 'awaited', 'likely', 'today', 'locale', 'message'],
  },
  'split-asks': { system: [], user: ['context', 'message'] },
  'choose-tool': { system: ['none'], user: ['tools', 'context', 'message'], lead: ['tools'] },
  'fill-arguments': { system: [], user: ['tool', 'facts', 'context', 'message'], lead: ['tool'] },
  /** With it a model gives its opinion on what a search found. */
  'rerank-tools': { system: [], user: ['tools', 'query'] },
  'explain-choice': { system: ['system'], user: ['user', 'names'] },
  'judge-fit': { system: [], user: ['tools', 'context', 'message'], lead: ['tools'] },
  'judge-tool': { system: [], user: ['context', 'message', 'tool'] },
  /** With it whoever asks a model asks once more where the answer can't be used. */
  repair: { system: ['system'], user: ['user', 'answer', 'issues'] },
} as const;

export const PROMPTS = {
  ...REPLACEABLE,
  /** With it a model proposes another wording of a prompt, for `winnow tune`. */
  'propose-wording': { system: [], user: ['instructions', 'failures', 'tried', 'words'] },
  /** With it a chat model of LangChain's kind takes a step of an agent. */
  'agent-step': { system: ['instructions', 'tools'], user: ['conversation'] },
} as const satisfies Readonly<Record<string, PromptPlaces<string>>>;

export type PromptName = keyof typeof PROMPTS;
export type ReplaceableName = keyof typeof REPLACEABLE;
export type PlaceholderOf<Name extends PromptName> = (typeof PROMPTS)[Name]['system' | 'user'][number];

export const REPLACEABLE_NAMES = Object.keys(REPLACEABLE) as ReplaceableName[];
