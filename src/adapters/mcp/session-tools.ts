/** The tools by which a client finds, enables and calls the tools of its session. */
import { z } from 'zod';
import {
  callInputSchema,
  disableOutputSchema,
  type EnableOutput,
  enableOutputSchema,
  listedToolSchema,
  searchOutputSchema,
} from '../../agents/contracts.js';
import { META_TOOLS } from '../../agents/meta-tools.js';
import type { Router } from '../../agents/router.js';
import type { McpOptions } from './mcp-options.js';
import { type OwnTool, ownTool, type ToolCall } from './own-tool.js';

const READS = { readOnlyHint: true, openWorldHint: false } as const;
/** They change nothing but the session of this connection. */
const ARRANGES = { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false } as const;

const ownCallSchema = callInputSchema.pick({ tool: true, arguments: true });

/** Short, for a model that pays for each token; the telemetry has the reasons of each match. */
const foundSchema = searchOutputSchema.extend({
  matches: z.array(searchOutputSchema.shape.matches.element.omit({ score: true, why_matched: true })),
});

const enabledSchema = enableOutputSchema.extend({
  tools: z
    .array(listedToolSchema.pick({ name: true, description: true, inputSchema: true }))
    .optional()
    .describe('How to call what is enabled now: by its name where you have a tool of that name, else with tool_call.'),
});

export function sessionTools(router: Router, { followsList }: McpOptions): OwnTool[] {
  const { tool_search, tool_enable, tool_disable } = META_TOOLS;
  const tools = [
    ownTool({
      name: 'tool_search',
      ...tool_search,
      hints: READS,
      opensSession: true,
      output: foundSchema,
      async handle(input, call) {
        const { matches, ...content } = await router.search(call.session, input, call);
        const shown = matches.map(({ score: _, why_matched: _why, ...match }) => match);
        return { content: { ...content, matches: shown }, comesBack: shown.length > 0 };
      },
    }),
    ownTool({
      name: 'tool_enable',
      ...tool_enable,
      output: followsList ? enableOutputSchema : enabledSchema,
      hints: ARRANGES,
      opensSession: true,
      async handle(input, call) {
        const output = await router.enable(call.session, input, call);
        const content = followsList ? output : { ...output, tools: await schemasOf(output, call) };
        return { content, comesBack: output.enabled.length > 0 };
      },
    }),
    ownTool({
      name: 'tool_disable',
      ...tool_disable,
      output: disableOutputSchema,
      hints: ARRANGES,
      handle: async (input, call) => ({ content: await router.disable(call.session, input, call) }),
    }),
  ];
  if (followsList) return tools;
  const call = ownTool({
    name: 'tool_call',
    title: 'Call an enabled tool',
    description:
      'Calls a tool that tool_enable made callable, where you do not have a tool of its name yourself. Its arguments are ' +
      'described in the answer of tool_enable.',
    input: ownCallSchema,
    // The called tool is not known: these hints allow anything.
    hints: { readOnlyHint: false, destructiveHint: true },
    handle: (input, call) => call.callTool(input),
  });
  return [...tools, call];

  async function schemasOf({ enabled, related_tools }: EnableOutput, call: ToolCall) {
    const names = new Set([...enabled, ...related_tools].map(({ name }) => name));
    const list = names.size === 0 ? undefined : await router.list(call.session, {}, call);
    const tools = list?.ok ? list.tools.filter(({ name }) => names.has(name)) : [];
    return tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
  }
}
