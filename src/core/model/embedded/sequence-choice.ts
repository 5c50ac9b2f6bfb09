/**
 * Which sequence a prompt takes: the one that already holds its beginning, or much of it, else the one that is missed least.
 * Of a request the selection's prefix comes again as it was, a plan's with some of its tools only: so where a disk keeps
 * prefixes the first can be had back in a moment, and the second is worth its place; where none does, it is the other way round.
 */
import type { LlamaContextSequence, Token } from 'node-llama-cpp';
import { commonLength, type PromptTokens } from './prompt-tokens.js';

/** What stays the same in the prompts that begin with it. */
type Prefix = readonly Token[];

interface Slot {
  readonly sequence: LlamaContextSequence;
  prefix: Prefix;
  /** Whether its prefix had been asked for before. */
  comesAgain: boolean;
}

/** So many prefixes are remembered; one that comes with each request is never forgotten, since a request has but a few. */
const REMEMBERED = 16;

/** As much of a prompt as is read in two seconds on two cores: going on from there is worth what else the sequence holds. */
const MUCH = 256;

/** @param isKept whether prefixes are on disk as well. */
export function createSequenceChoice(
  sequences: readonly LlamaContextSequence[],
  isKept: boolean,
): (prompt: PromptTokens) => LlamaContextSequence {
  const slots = sequences.map((sequence): Slot => ({ sequence, prefix: [], comesAgain: false }));
  /** Each once, the one asked for last at the end. */
  let recent: Prefix[] = [];
  return ({ tokens, stable }) => {
    const isIn = (held: readonly Token[]) => commonLength(held, tokens) >= Math.max(1, stable * 0.9);
    const slot = nearest(tokens, isIn) ?? begun(tokens) ?? leastMissed();
    slot.comesAgain = recent.some(isIn);
    slot.prefix = tokens.slice(0, stable);
    recent = [...recent.filter((prefix) => !isIn(prefix)), slot.prefix].slice(-REMEMBERED);
    return slot.sequence;
  };

  function nearest(tokens: readonly Token[], isIn: (held: readonly Token[]) => boolean): Slot | undefined {
    const common = ({ sequence }: Slot) => commonLength(sequence.contextTokens, tokens);
    const [best] = [...slots].sort((one, other) => common(other) - common(one));
    return best && (isIn(best.sequence.contextTokens) || common(best) >= MUCH) ? best : undefined;
  }

  /** All it holds is of this prompt, as after a call that was cancelled while it read: nothing is lost by going on. */
  function begun(tokens: readonly Token[]): Slot | undefined {
    return slots.find(({ sequence }) => {
      const length = sequence.nextTokenIndex;
      return length > 0 && commonLength(sequence.contextTokens, tokens) === length;
    });
  }

  /** What is forgotten, then what is had back or not wanted again, then what is read again the soonest. */
  function leastMissed(): Slot {
    const isForgotten = ({ prefix }: Slot) => !recent.includes(prefix);
    const ranks = (slot: Slot) => [isForgotten(slot) ? 0 : 1, slot.comesAgain === isKept ? 0 : 1, slot.prefix.length];
    return slots.reduce((one, other) => (isLess(ranks(other), ranks(one)) ? other : one));
  }
}

/** By the first number that differs. */
function isLess(one: readonly number[], other: readonly number[]): boolean {
  const place = one.findIndex((value, at) => value !== other[at]);
  return place >= 0 && (one[place] ?? 0) < (other[place] ?? 0);
}
