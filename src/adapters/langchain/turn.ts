/** A turn is one user message and all that it causes. */
import { type BaseMessage, HumanMessage } from '@langchain/core/messages';

export interface Turn {
  /** The one that began it. */
  readonly message: BaseMessage;
  readonly before: readonly BaseMessage[];
  readonly after: readonly BaseMessage[];
}

/** The last turn. None before the first user message. */
export function lastTurn(messages: readonly BaseMessage[]): Turn | undefined {
  const place = messages.findLastIndex((message) => HumanMessage.isInstance(message));
  const message = messages[place];
  return message && { message, before: messages.slice(0, place), after: messages.slice(place + 1) };
}
