/** Types of `langchain-agent.mjs`; those of LangChain itself don't compile under `exactOptionalPropertyTypes`. */
import type { Tool } from '../../src/core/catalog/tool.js';
import type { Message } from '../../src/core/request.js';

export interface SelectingAgent {
  invoke(input: { messages: readonly Message[] }): Promise<{ messages: readonly { content: unknown }[] }>;
}

export interface SelectingAgentOptions {
  baseURL: string;
  maxTools: number;
  model?: string;
  fetch?: typeof fetch;
}

export function createSelectingAgent(
  tools: readonly Pick<Tool, 'name' | 'description' | 'inputSchema'>[],
  options: SelectingAgentOptions,
): SelectingAgent;
