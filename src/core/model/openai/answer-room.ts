/**
 * Tokens that the context leaves for an answer. Servers differ in what they do where prompt and `max_tokens` together are
 * more than the context: llama.cpp cuts the answer, vLLM refuses the call.
 */
import { WinnowError } from '../../errors.js';
import { estimateTokens } from '../count-tokens.js';
import type { CompletionRequest } from '../model.js';

/** With less no answer can be begun. */
const LEAST_TOKENS = 64;
/** The server's own count may be higher than the estimate, and it puts its marks around each message. */
const MARGIN_PERCENT = 10;
const MARGIN_TOKENS = 16;

/** What was asked for where it fits. @throws WinnowError `context_exceeded` where there is no room for any answer. */
export function answerRoom(
  { prompt, maxTokens }: Pick<CompletionRequest, 'prompt' | 'maxTokens'>,
  contextTokens: number,
): number {
  const roomBeside = (tokens: number) =>
    contextTokens - tokens - Math.ceil((tokens * MARGIN_PERCENT) / 100) - MARGIN_TOKENS;
  // A token is rarely shorter than a character, so most prompts need no count.
  if (maxTokens <= roomBeside(prompt.system.length + prompt.user.length)) return maxTokens;
  const tokens = estimateTokens(prompt.system) + estimateTokens(prompt.user);
  const least = Math.min(LEAST_TOKENS, maxTokens);
  if (tokens + least <= contextTokens) return Math.min(maxTokens, Math.max(least, roomBeside(tokens)));
  const message = `The prompt has about ${tokens} tokens and needs room for ${least}, the context of the model holds ${contextTokens}. Give the model's real context as contextTokens, or send less.`;
  throw new WinnowError('context_exceeded', message, { details: { tokens, contextTokens } });
}
