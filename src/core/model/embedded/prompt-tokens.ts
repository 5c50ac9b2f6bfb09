/** A prompt as the model's own chat format writes it, in tokens, with the lengths of its stable parts. */
import type { ChatHistoryItem, Token } from 'node-llama-cpp';
import type { Prompt } from '../model.js';
import type { Runtime } from './runtime.js';

export interface PromptTokens {
  readonly tokens: Token[];
  /** Tokens that stay the same whatever the user part is. */
  readonly stable: number;
  /** Tokens that stay the same whatever stands behind the lead of the user part; without a lead the same number. */
  readonly led: number;
}

/** @param opening what the answer begins with; the model goes on from there. */
export function createPromptTokenizer({
  chat,
  model,
}: Pick<Runtime, 'chat' | 'model'>): (prompt: Prompt, opening: string) => PromptTokens {
  const stableOf = rememberLast((system) => beginningOf(system, ''));
  const ledOf = rememberLast((system, lead) => beginningOf(system, lead));
  return (prompt, opening) => {
    const tokens = tokenize(prompt, opening);
    const stable = commonLength(tokens, stableOf(prompt.system));
    return { tokens, stable, led: prompt.lead ? commonLength(tokens, ledOf(prompt.system, prompt.lead)) : stable };
  };

  /** What all prompts have in common that begin so. */
  function beginningOf(system: string, lead: string): Token[] {
    const one = tokenize({ system, user: `${lead}a` }, '');
    const other = tokenize({ system, user: `${lead}#` }, '');
    return one.slice(0, commonLength(one, other));
  }

  function tokenize(prompt: Prompt, opening: string): Token[] {
    const chatHistory: ChatHistoryItem[] = [
      { type: 'system', text: prompt.system },
      { type: 'user', text: prompt.user },
      { type: 'model', response: [opening] },
    ];
    return chat.generateContextState({ chatHistory }).contextText.tokenize(model.tokenizer);
  }
}

function rememberLast<T>(make: (...texts: string[]) => T): (...texts: string[]) => T {
  let last: { texts: string[]; made: T } | undefined;
  return (...texts) => {
    if (!last?.texts.every((text, place) => text === texts[place])) last = { texts, made: make(...texts) };
    return last.made;
  };
}

export function commonLength(one: readonly Token[], other: readonly Token[]): number {
  const shorter = Math.min(one.length, other.length);
  for (let index = 0; index < shorter; index++) if (one[index] !== other[index]) return index;
  return shorter;
}
