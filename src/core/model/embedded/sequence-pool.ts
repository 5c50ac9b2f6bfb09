/** The sequences of one context and what they hold: only what a prompt adds to it is read, from disk where it was kept. */
import type { LlamaContextSequence, Token } from 'node-llama-cpp';
import { throwIfCancelled } from '../../errors.js';
import type { Usage } from '../model.js';
import type { PrefixStore } from './prefix-store.js';
import { commonLength, type PromptTokens } from './prompt-tokens.js';
import type { Runtime } from './runtime.js';
import { createSequenceChoice } from './sequence-choice.js';

/** A cancelled request stops between two pieces of this length. */
const PIECE_TOKENS = 256;
/** Shorter prefixes are read in a second, and each would be a file. */
const MIN_SAVED_TOKENS = 64;

export interface SequencePool {
  /**
   * A sequence that holds all tokens of the prompt but the last, which the caller evaluates. The tokens that had to
   * be read are counted in `usage`.
   */
  prepare(prompt: PromptTokens, usage: Usage, signal?: AbortSignal): Promise<LlamaContextSequence>;
}

export function createSequencePool(
  { context }: Pick<Runtime, 'context'>,
  store: PrefixStore | undefined,
): SequencePool {
  const sequences = Array.from({ length: context.totalSequences }, () => context.getSequence());
  const choose = createSequenceChoice(sequences, store !== undefined);
  return {
    async prepare(prompt, usage, signal) {
      const sequence = choose(prompt);
      await rewind(sequence, prompt.tokens, prompt.tokens.length - 1);
      usage.cached += sequence.nextTokenIndex + (await loadPrefix(sequence, prompt));
      await touchHeld(sequence, prompt);
      await readTo(sequence, prompt, { end: prompt.tokens.length - 1, usage, signal });
      return sequence;
    },
  };

  /** The longest that is kept. @returns how many tokens more the sequence holds now. */
  async function loadPrefix(sequence: LlamaContextSequence, prompt: PromptTokens): Promise<number> {
    const { tokens } = prompt;
    const before = sequence.nextTokenIndex;
    for (const length of savedLengths(prompt).filter((length) => length > before)) {
      const prefix = tokens.slice(0, length);
      if (!(await store?.load(prefix, (file) => sequence.loadStateFromFile(file, { acceptRisk: true })))) continue;
      await rewind(sequence, tokens, tokens.length - 1);
      return sequence.nextTokenIndex - before;
    }
    return 0;
  }

  /** Also what is in memory: else the prefix that every request begins with would be the first to go from disk. */
  async function touchHeld(sequence: LlamaContextSequence, prompt: PromptTokens): Promise<void> {
    const held = savedLengths(prompt).filter((length) => length <= sequence.nextTokenIndex);
    for (const length of held) await store?.touch(prompt.tokens.slice(0, length));
  }

  async function readTo(
    sequence: LlamaContextSequence,
    prompt: PromptTokens,
    { end, usage, signal }: { end: number; usage: Usage; signal: AbortSignal | undefined },
  ): Promise<void> {
    const { tokens } = prompt;
    const borders = savedLengths(prompt);
    while (sequence.nextTokenIndex < end) {
      throwIfCancelled(signal);
      const start = sequence.nextTokenIndex;
      const border = Math.min(end, ...borders.filter((length) => length > start));
      const piece = tokens.slice(start, Math.min(start + PIECE_TOKENS, border));
      // Counted when it begins: a caller who is cancelled meanwhile has spent the whole piece.
      usage.read += piece.length;
      await sequence.evaluateWithoutGeneratingNewTokens(piece);
      const reached = sequence.nextTokenIndex;
      if (borders.includes(reached)) {
        await store?.save(tokens.slice(0, reached), (file) => sequence.saveStateToFile(file));
      }
    }
  }
}

/** Of the prefixes that are kept on disk, the longest first. */
function savedLengths({ stable, led }: PromptTokens): number[] {
  return [...new Set([led, stable])].filter((length) => length >= MIN_SAVED_TOKENS);
}

/** Takes away what the sequence holds beyond its common part with the first `limit` of `tokens`. */
export async function rewind(sequence: LlamaContextSequence, tokens: readonly Token[], limit: number): Promise<void> {
  const keep = Math.min(commonLength(sequence.contextTokens, tokens), limit);
  const end = sequence.nextTokenIndex;
  if (keep < end) await sequence.eraseContextTokenRanges([{ start: keep, end }]);
}
