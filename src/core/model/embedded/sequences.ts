/**
 * Who computes, and on what. One call at a time, in the order of arrival, since two at once on the same cores are slower
 * than one after the other. Each takes the sequence that holds most of its prompt: only what the prompt adds is read.
 */
import type { LlamaContextSequence, Token } from 'node-llama-cpp';
import { orAborted, throwIfCancelled, WinnowError } from '../../errors.js';
import type { Usage } from '../model.js';
import type { PrefixStore } from './prefix-store.js';
import { commonLength, type PromptTokens, type Runtime } from './runtime.js';

export type Turnstile = ReturnType<typeof createTurnstile>;

export function createTurnstile() {
  let last: Promise<unknown> = Promise.resolve();
  let isClosed = false;
  return {
    /**
     * Waits for the turn and works. The result holds the place until it calls `leave`. Where no result reaches the caller,
     * since the work fails or the caller is cancelled, the place is free as soon as the work has ended. A cancelled caller
     * gets its error at once.
     */
    async hold<T>(signal: AbortSignal | undefined, work: (leave: () => void) => Promise<T>): Promise<T> {
      if (isClosed) throw new WinnowError('model_unavailable', 'The local model is closed.');
      const before = last;
      let leave = () => {};
      const left = new Promise<void>((resolve) => {
        leave = resolve;
      });
      last = before.then(() => left);
      const result = before.then(() => {
        throwIfCancelled(signal);
        return work(leave);
      });
      try {
        return await (signal ? orAborted(result, signal) : result);
      } catch (error) {
        result.then(leave, leave);
        throwIfCancelled(signal);
        throw error;
      }
    },
    async close(): Promise<void> {
      isClosed = true;
      await last;
    },
  };
}

/** A cancelled request stops between two pieces of this length. */
const PIECE_TOKENS = 256;
/** Shorter prefixes are read in a second, and each would be a file. */
const MIN_SAVED_TOKENS = 64;

/**
 * Gives a sequence that holds all tokens of a prompt but the last, which the caller evaluates. The tokens that had to be
 * read are counted in `usage`.
 */
export function createSequencePool({ context }: Pick<Runtime, 'context'>, store: PrefixStore) {
  const choose = createSequenceChoice(Array.from({ length: context.totalSequences }, () => context.getSequence()));
  return async (prompt: PromptTokens, usage: Usage, signal?: AbortSignal): Promise<LlamaContextSequence> => {
    const { tokens } = prompt;
    const end = tokens.length - 1;
    const borders = [...new Set([prompt.led, prompt.stable])].filter((length) => length >= MIN_SAVED_TOKENS);
    const sequence = choose(prompt);
    await rewind(sequence, tokens);
    const load = (file: string) => sequence.loadStateFromFile(file, { acceptRisk: true });
    for (const length of borders.filter((border) => border > sequence.nextTokenIndex)) {
      if (!(await store.load(tokens.slice(0, length), load))) continue;
      await rewind(sequence, tokens);
      break;
    }
    usage.cached += sequence.nextTokenIndex;
    // Also what is in memory: else the prefix that every request begins with would be the first to go from disk.
    for (const length of borders) if (length <= sequence.nextTokenIndex) await store.touch(tokens.slice(0, length));
    while (sequence.nextTokenIndex < end) {
      throwIfCancelled(signal);
      const start = sequence.nextTokenIndex;
      const border = Math.min(end, start + PIECE_TOKENS, ...borders.filter((length) => length > start));
      // Counted when it begins: a caller who is cancelled meanwhile has spent the whole piece.
      usage.read += border - start;
      await sequence.evaluateWithoutGeneratingNewTokens(tokens.slice(start, border));
      if (borders.includes(border)) await store.save(tokens.slice(0, border), (file) => sequence.saveStateToFile(file));
    }
    return sequence;
  };
}

/** Takes away what the sequence holds beyond its common part with the tokens, whose last is evaluated anew. */
export async function rewind(sequence: LlamaContextSequence, tokens: readonly Token[]): Promise<void> {
  const start = Math.min(commonLength(sequence.contextTokens, tokens), tokens.length - 1);
  const end = sequence.nextTokenIndex;
  if (start < end) await sequence.eraseContextTokenRanges([{ start, end }]);
}

interface Slot {
  readonly sequence: LlamaContextSequence;
  prefix: readonly Token[];
  comesAgain: boolean;
}

/** So many prefixes are remembered; one that comes with each request is never forgotten, since a request has but a few. */
const REMEMBERED = 16;

/** As much of a prompt as is read in two seconds on two cores: going on from there is worth what else the sequence holds. */
const MUCH = 256;

/**
 * The sequence that already holds the beginning of a prompt, or much of it, else the one that is missed least. A prefix
 * that comes again is had back from disk in a moment; a plan's, which comes with other tools each time, is worth its place.
 */
function createSequenceChoice(sequences: readonly LlamaContextSequence[]) {
  const slots = sequences.map((sequence): Slot => ({ sequence, prefix: [], comesAgain: false }));
  let recent: (readonly Token[])[] = [];
  return ({ tokens, stable }: PromptTokens): LlamaContextSequence => {
    const isIn = (held: readonly Token[]) => commonLength(held, tokens) >= Math.max(1, stable * 0.9);
    const common = ({ sequence }: Slot) => commonLength(sequence.contextTokens, tokens);
    const nearest = slots.reduce((one, other) => (common(other) > common(one) ? other : one));
    // All that a cancelled call had read is of this prompt: nothing is lost by going on.
    const isBegun = common(nearest) > 0 && common(nearest) === nearest.sequence.nextTokenIndex;
    const isNear = isIn(nearest.sequence.contextTokens) || common(nearest) >= MUCH || isBegun;
    const slot = isNear ? nearest : leastMissed();
    slot.comesAgain = recent.some(isIn);
    slot.prefix = tokens.slice(0, stable);
    recent = [...recent.filter((prefix) => !isIn(prefix)), slot.prefix].slice(-REMEMBERED);
    return slot.sequence;
  };

  function leastMissed(): Slot {
    const loss = ({ prefix, comesAgain }: Slot) =>
      (recent.includes(prefix) ? 2e6 : 0) + (comesAgain ? 0 : 1e6) + prefix.length;
    return slots.reduce((one, other) => (loss(other) < loss(one) ? other : one));
  }
}
