/**
 * An agent of Mastra with tools behind Winnow, over MCP (`@mastra/core` 1.71, `@mastra/mcp` 2.0, Node 22.13). The model starts
 * with `winnow_tool_search`, `winnow_tool_enable` and `winnow_tool_call`, and finds all others by them.
 */
import { Agent } from '@mastra/core/agent';
import { MCPClient } from '@mastra/mcp';

/** @param model as Mastra takes it: 'openai/gpt-4o-mini', or { id: 'vllm/NAME', url } for an endpoint of your own */
export async function askByMastra({ model, winnow, task, user }) {
  const mcp = new MCPClient({
    servers: {
      winnow: {
        url: new URL('/mcp', winnow),
        // With `auth` in winnow.yaml: { authorization: `Bearer ${token}` }
        requestInit: { headers: { 'x-winnow-user': user } },
        // Winnow says there how its tools belong together.
        forwardInstructions: true,
        instructionsMaxLength: 2_000,
      },
    },
  });
  try {
    // `plan`, `select` and `run` are left out: this agent decides for itself, step by step.
    const { winnow_tool_search, winnow_tool_enable, winnow_tool_call } = await mcp.listTools();
    const agent = new Agent({
      ...{ id: 'assistant', name: 'assistant', model },
      instructions: 'Do what the user asks, with tools where they help.',
      tools: { winnow_tool_search, winnow_tool_enable, winnow_tool_call },
    });
    const { text } = await agent.generate(task, { maxSteps: 10 });
    return text;
  } finally {
    await mcp.disconnect();
  }
}
