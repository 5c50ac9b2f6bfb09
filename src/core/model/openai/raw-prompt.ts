/** A prompt as plain text, for servers that are asked for the next token instead of a chat answer. */
import type { Prompt } from '../model.js';

/** System, request and the opened answer; ends exactly where the next token is wanted. */
export function renderRawPrompt(prompt: Prompt, opening: string): string {
  return `${prompt.system}\n\nRequest: ${prompt.user}\n\nAnswer: ${opening}`;
}
