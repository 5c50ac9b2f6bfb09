/** The request as one message, for those that know nothing of entities and intents: they are told as Winnow tells them. */

import { renderContext } from '../../../src/core/prompts/context.js';
import { type PlanRequest, parseRequest } from '../../../src/core/request.js';

export function userText(request: PlanRequest): string {
  const { history: _, ...rest } = parseRequest(request);
  return `${renderContext(rest, { historyMessages: 0, historyCharacters: 0 })}${rest.message}`;
}
