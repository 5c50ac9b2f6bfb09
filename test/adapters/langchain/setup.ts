/** An agent on a scripted chat, behind a router of tests; what it came to in short. */

import { AIMessage, type BaseMessage, ToolMessage } from '@langchain/core/messages';
import { MemorySaver } from '@langchain/langgraph';
import { createAgent } from 'langchain';
import type { Approver } from '../../../src/adapters/langchain/approval-interrupt.js';
import {
  createRoutingMiddleware,
  type RoutingContext,
  type RoutingMiddlewareOptions,
} from '../../../src/adapters/langchain/index.js';
import { setUp } from '../../agents/setup.js';
import { type ChatAnswer, ScriptedChat } from './scripted-chat.js';

export interface RoutedOptions extends RoutingMiddlewareOptions {
  answers: ConstructorParameters<typeof ScriptedChat>[0];
  checkpointer?: MemorySaver;
  context?: RoutingContext;
  version?: 'v1' | 'v2';
}

/** An agent of which all runs are of one thread. */
export function createRouted({ answers, checkpointer = new MemorySaver(), version, ...rest }: RoutedOptions) {
  const { context = { user: 'ann' }, ...options } = rest;
  const chat = new ScriptedChat(answers);
  const middleware = [createRoutingMiddleware(options)] as const;
  const agent = createAgent({ model: chat, checkpointer, middleware, ...(version ? { version } : {}) });
  const config = { configurable: { thread_id: 'thread' }, context: { winnow: context } };
  /** Of a run that somebody resumes with a decision. */
  const configFor = (approver: Approver) => ({ ...config, context: { winnow: { ...context, approver } } });
  const run = async (input: Parameters<typeof agent.invoke>[0], approver?: Approver) => {
    const { messages } = await agent.invoke(input, approver ? configFor(approver) : config);
    return messages;
  };
  const say = async (text: string, signal?: AbortSignal) => {
    const { messages } = await agent.invoke(saying(text), signal ? { ...config, signal } : config);
    return messages;
  };
  return { agent, chat, config, configFor, run, say };
}

type StartOptions = Omit<RoutedOptions, 'router' | 'answers'> & { setup?: Parameters<typeof setUp>[0] };

/** Such an agent, before a router of its own. */
export async function start(answers: RoutedOptions['answers'], { setup, ...options }: StartOptions = {}) {
  const made = await setUp(setup);
  return { ...made, ...createRouted({ router: made.router, answers, ...options }) };
}

export function saying(text: string) {
  return { messages: [{ role: 'user' as const, content: text }] };
}

/** The answers of tools since the last user message: text or parsed JSON, by the name of the tool. */
export function answersOf(
  messages: readonly BaseMessage[],
): { name: string | undefined; status: string | undefined; content: unknown }[] {
  const last = messages.findLastIndex(({ type }) => type === 'human');
  const tools = messages.slice(last).filter((message) => ToolMessage.isInstance(message));
  return tools.map(({ name, status, text }) => ({ name, status, content: parsed(text) }));
}

export function finalText(messages: readonly BaseMessage[]): string | undefined {
  return messages.filter((message) => AIMessage.isInstance(message)).at(-1)?.text;
}

export type { ChatAnswer };

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
