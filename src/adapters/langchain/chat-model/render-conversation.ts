/**
 * Messages -> the two parts of a prompt. The conversation only grows at its end, so that a model server's cache holds
 * all of it but the last step; and what a tool returns stands on one line, so that it can pose as nobody else.
 */
import { AIMessage, type BaseMessage, HumanMessage, SystemMessage, ToolMessage } from '@langchain/core/messages';
import { WinnowError } from '../../../core/errors.js';

export interface Conversation {
  /** The system messages. */
  readonly instructions: string;
  readonly conversation: string;
}

/** @throws WinnowError `invalid_request` for content that is no text */
export function renderConversation(messages: readonly BaseMessage[]): Conversation {
  const names = new Map(messages.flatMap(callsOf).map(({ id, name }) => [id, name]));
  const instructions = messages.filter((message) => SystemMessage.isInstance(message)).map(textOf);
  const lines = messages.filter((message) => !SystemMessage.isInstance(message)).flatMap((one) => render(one, names));
  return { instructions: instructions.join('\n\n'), conversation: lines.join('\n') };
}

function render(message: BaseMessage, names: ReadonlyMap<string | undefined, string>): string[] {
  if (AIMessage.isInstance(message)) return renderSteps(message);
  const text = textOf(message);
  if (!ToolMessage.isInstance(message)) return [`${HumanMessage.isInstance(message) ? 'User' : message.type}: ${text}`];
  const name = message.name ?? names.get(message.tool_call_id) ?? 'the tool';
  return [`Result of ${name}: ${text.includes('\n') ? JSON.stringify(text) : text}`];
}

/** As the model has to write them itself. */
function renderSteps(message: AIMessage): string[] {
  const calls = callsOf(message).map(({ name, args }) => JSON.stringify({ tool: name, arguments: args }));
  const steps = calls.length > 0 ? calls : [JSON.stringify({ answer: message.text })];
  return steps.map((step) => `You: ${step}`);
}

function callsOf(message: BaseMessage): NonNullable<AIMessage['tool_calls']> {
  return AIMessage.isInstance(message) ? (message.tool_calls ?? []) : [];
}

function textOf(message: BaseMessage): string {
  const { content } = message;
  const other = typeof content === 'string' ? undefined : content.find(({ type }) => type !== 'text');
  if (other === undefined) return message.text;
  const advice = 'this model reads text only';
  throw new WinnowError('invalid_request', `messages: a ${message.type} message holds ${other.type}; ${advice}.`);
}
