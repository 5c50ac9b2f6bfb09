/** What an agent was told -> what a planner is asked: the last user message, and all before it as history. */
import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from '@langchain/core/messages';
import type { Message, PlanRequest } from '../../../core/request.js';
import type { Turn } from '../turn.js';

/** The planner cuts the history to its window, and says no more of system messages: they are about the agent. */
export function toRequest({ message, before }: Turn, maxTools: number | undefined): PlanRequest {
  const request = { message: message.text, history: before.flatMap(toMessage) };
  return maxTools === undefined ? request : { ...request, maxTools };
}

function toMessage(message: BaseMessage): Message[] {
  if (HumanMessage.isInstance(message)) return [{ role: 'user', content: message.text }];
  if (ToolMessage.isInstance(message)) return [{ role: 'tool', content: message.text }];
  if (!AIMessage.isInstance(message)) return [];
  const calls = message.tool_calls?.map(({ name, args }) => `${name}(${JSON.stringify(args)})`) ?? [];
  return [{ role: 'assistant', content: [message.text, ...calls].filter(Boolean).join(' ') }];
}
