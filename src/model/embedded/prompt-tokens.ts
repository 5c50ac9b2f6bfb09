/** A prompt as the model's own chat format writes it, in tokens, with the length of its stable part. */
import type { ChatHistoryItem, Token } from 'node-llama-cpp';
import type { Prompt } from '../model.js';
import type { Runtime } from './runtime.js';

export interface PromptTokens {
  readonly tokens: Token[];
  /** Tokens that stay the same whatever the user part is behind its lead. */
  readonly stable: number;
}

/** @param opening what the answer begins with; the model goes on from there. */
export function createPromptTokenizer({
  chat,
  model,
}: Pick<Runtime, 'chat' | 'model'>): (prompt: Prompt, opening: string) => PromptTokens {
  let last: { system: string; lead: string; stable: Token[] } | undefined;
  return (prompt, opening) => {
    const tokens = tokenize(prompt, opening);
    const { system, lead = '' } = prompt;
    if (last?.system !== system || last.lead !== lead) {
      const one = tokenize({ system, user: `${lead}a` }, '');
      const other = tokenize({ system, user: `${lead}#` }, '');
      last = { system, lead, stable: one.slice(0, commonLength(one, other)) };
    }
    return { tokens, stable: commonLength(tokens, last.stable) };
  };

  function tokenize(prompt: Prompt, opening: string): Token[] {
    const chatHistory: ChatHistoryItem[] = [
      { type: 'system', text: prompt.system },
      { type: 'user', text: prompt.user },
      { type: 'model', response: [opening] },
    ];
    return chat.generateContextState({ chatHistory }).contextText.tokenize(model.tokenizer);
  }
}

export function commonLength(one: readonly Token[], other: readonly Token[]): number {
  const shorter = Math.min(one.length, other.length);
  for (let index = 0; index < shorter; index++) if (one[index] !== other[index]) return index;
  return shorter;
}
