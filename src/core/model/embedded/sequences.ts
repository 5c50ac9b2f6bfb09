/**
 * Schedules calls and assigns sequences to them. Calls run one at a time in the order of arrival, since two at once on the
 * same cores are slower. Each gets the sequence with the longest part of its prompt and evaluates only the rest.
 */
import type { LlamaContextSequence, Token } from 'node-llama-cpp';
import { orAborted, throwIfCancelled, WinnowError } from '../../errors.js';
import type { Usage } from '../model.js';
import type { PrefixStore } from './prefix-store.js';
import { commonLength, type PromptTokens, type Runtime } from './runtime.js';

export type Mutex = ReturnType<typeof createMutex>;

export function createMutex() {
  let last: Promise<unknown> = Promise.resolve();
  let isClosed = false;
  return {
    /**
     * Waits for its turn and runs `work`; the turn lasts until `release` is called. If the work fails or the caller is
     * cancelled, the turn ends with the work. A cancelled caller gets its error at once.
     */
    async hold<T>(signal: AbortSignal | undefined, work: (release: () => void) => Promise<T>): Promise<T> {
      if (isClosed) throw new WinnowError('model_unavailable', 'The local model is closed.');
      const before = last;
      let release = () => {};
      const released = new Promise<void>((resolve) => {
        release = resolve;
      });
      last = before.then(() => released);
      const result = before.then(() => {
        throwIfCancelled(signal);
        return work(release);
      });
      try {
        return await (signal ? orAborted(result, signal) : result);
      } catch (error) {
        result.then(release, release);
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

/** A cancelled request stops after a piece of this length. */
const PIECE_TOKENS = 256;
/** Shorter prefixes are evaluated within a second, so saving them is not worth a file. */
const MIN_SAVED_TOKENS = 64;

/**
 * Gives a sequence with the tokens of a prompt up to its last piece, which the caller evaluates together with what follows:
 * one batch takes less time than two. `usage` counts the tokens that had to be evaluated.
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
    // Prefixes in memory count as used, too: else the most common one would be deleted from disk first.
    for (const length of borders) if (length <= sequence.nextTokenIndex) await store.touch(tokens.slice(0, length));
    for (;;) {
      throwIfCancelled(signal);
      const start = sequence.nextTokenIndex;
      const border = Math.min(start + PIECE_TOKENS, ...borders.filter((length) => length > start));
      if (border > end) return sequence;
      // Counted at the start: a caller cancelled meanwhile has spent the whole piece.
      usage.read += border - start;
      await sequence.evaluateWithoutGeneratingNewTokens(tokens.slice(start, border));
      if (borders.includes(border)) await store.save(tokens.slice(0, border), (file) => sequence.saveStateToFile(file));
    }
  };
}

/** Removes tokens of the sequence beyond its common prefix with `tokens`, whose last one is always evaluated again. */
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

/** Number of recent prefixes. A request has few, so one that is part of each request is never dropped. */
const REMEMBERED = 16;

/** Tokens evaluated in two seconds on two cores: reusing so many outweighs losing the rest of the sequence. */
const MUCH = 256;

/**
 * Chooses the sequence that already has the beginning of a prompt, or much of it, else the one whose loss costs least. A
 * repeated prefix reloads quickly from disk; that of a plan, which has other tools each time, is kept longer.
 */
function createSequenceChoice(sequences: readonly LlamaContextSequence[]) {
  const slots = sequences.map((sequence): Slot => ({ sequence, prefix: [], comesAgain: false }));
  let recent: (readonly Token[])[] = [];
  return ({ tokens, stable }: PromptTokens): LlamaContextSequence => {
    const isIn = (held: readonly Token[]) => commonLength(held, tokens) >= Math.max(1, stable * 0.9);
    const common = ({ sequence }: Slot) => commonLength(sequence.contextTokens, tokens);
    const nearest = slots.reduce((one, other) => (common(other) > common(one) ? other : one));
    // All tokens of the sequence belong to this prompt, as after a cancelled call: continuing loses nothing.
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
