/**
 * The vocabulary of a reader whose tokenizer is out of reach: names are cut where byte-pair tokenizers cut them, and
 * the server's own tokens are matched to the pieces by their text.
 */
import { createHash } from 'node:crypto';
import type { Token } from '../model.js';

/** A separator stays with the word after it; scripts without case are cut at each character, as is all else. */
const PIECE = /[_\-./ ]?(?:\p{Lo}|\p{Lu}+(?!\p{Ll})|\p{Lu}?[\p{Ll}\p{M}]+|\p{N}+)|[\s\S]/gu;

export interface Pieces {
  /** Joined, the pieces of a text are the text. Equal pieces get equal numbers, in every process: they go into cache keys. */
  tokenize(text: string): Token[];
  textOf(token: Token): string;
  /** Of a text that is one token of the server, whatever pieces it has. */
  tokenOf(text: string): Token;
}

export function createPieces(): Pieces {
  const texts = new Map<Token, string>();
  const numbers = new Map<string, Token>();
  const intern = (text: string): Token => {
    const known = numbers.get(text);
    if (known !== undefined) return known;
    let number = createHash('sha256').update(text).digest().readUIntBE(0, 6);
    while (texts.has(number)) number += 1;
    numbers.set(text, number);
    texts.set(number, text);
    return number;
  };
  return {
    tokenOf: intern,
    tokenize: (text) => (text.match(PIECE) ?? []).map(intern),
    textOf(token) {
      const text = texts.get(token);
      if (text === undefined) throw new RangeError(`Token ${token} is not of this vocabulary.`);
      return text;
    },
  };
}

export interface TopToken {
  readonly text: string;
  /** Natural logarithm of the probability. */
  readonly logprob: number;
}

/** How far below the least likely returned token one that was not returned is taken to be. */
const FLOOR_STEP = 1;

/**
 * Log weight of each piece: the probability of all tokens that begin it or that it begins. A token that fits several
 * pieces is shared out evenly, since nothing tells which was meant.
 */
export function weighPieces(pieces: readonly string[], top: readonly TopToken[]): number[] {
  const floor = Math.exp(Math.min(0, ...top.map((token) => token.logprob)) - FLOOR_STEP);
  const sums = pieces.map(() => 0);
  for (const token of top) {
    if (token.text === '') continue;
    const fitting = pieces.flatMap((piece, index) => (fits(piece, token.text) ? [index] : []));
    for (const index of fitting) sums[index] = (sums[index] ?? 0) + Math.exp(token.logprob) / fitting.length;
  }
  return sums.map((sum) => Math.log(Math.max(sum, floor)));
}

function fits(piece: string, token: string): boolean {
  return piece.startsWith(token) || token.startsWith(piece);
}
