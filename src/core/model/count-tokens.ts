/**
 * Counts tokens of texts and tools. Without a tokenizer the number is an estimate, meant to be a little high, since
 * budgets depend on it: 5 to 20 % above o200k_base on tool lists in JSON, English and Chinese. A real tokenizer
 * (gpt-tokenizer) takes 0.5 s and 67 MB to load, and the server may use a different one anyway.
 */
import type { Tool } from '../catalog/tool.js';
import { keepLatest, oncePer } from '../kept.js';
import type { Model } from './model.js';

/** Roughly the pieces of byte-pair tokenizers: words, three digits, runs of space or of punctuation. */
const PIECE = /\p{L}[\p{Ll}\p{M}]*|\p{N}{1,3}|[^\S\n]{2,}|\n+|[^\p{L}\p{N}\s]{1,3}/gu;
const LETTERS = /\p{L}/u;
/** Longer words are split into pieces of about six letters. */
const WHOLE_WORD_LETTERS = 8;
const LETTERS_A_FURTHER_TOKEN = 6;

/** Long texts are cached, since every request begins with the same instructions and summaries. */
const LONG_CHARACTERS = 1000;
const MAX_KEPT = 32;
const kept = new Map<string, number>();

/** Estimated tokens; 0 for the empty text only. Scripts without case, such as Chinese, count one per character. */
export function estimateTokens(text: string): number {
  if (text.length < LONG_CHARACTERS) return scan(text);
  const tokens = kept.get(text) ?? scan(text);
  keepLatest(kept, [text, tokens], MAX_KEPT);
  return tokens;
}

function scan(text: string): number {
  let tokens = 0;
  for (const [piece] of text.matchAll(PIECE)) {
    const further = LETTERS.test(piece) ? Math.max(0, piece.length - WHOLE_WORD_LETTERS) / LETTERS_A_FURTHER_TOKEN : 0;
    tokens += 1 + further;
  }
  return text === '' ? 0 : Math.max(1, Math.ceil(tokens));
}

/**
 * Counts the tokens of a tool for a model, once per model and tool.
 * @param textOf the text in which the tool is sent
 */
export function createToolTokens(textOf: (tool: Tool) => string): (model: Model) => (tool: Tool) => number {
  return oncePer((model) => oncePer((tool) => model.countTokens(textOf(tool))));
}
