/** Options of Winnow as an MCP server, with every default. */
import { z } from 'zod';
import { parseAs } from '../../core/parse.js';

export const mcpOptionsSchema = z.strictObject({
  toolPrefix: z
    .string()
    .regex(/^[\w-]{0,32}$/u, 'at most 32 letters, digits, _ and -')
    .default('')
    .describe("Prefix of the names of Winnow's own tools, for example `winnow_`."),
  followsList: z
    .boolean()
    .default(false)
    .describe(
      'The client reloads a changed list of tools at once. Otherwise the answer of tool_enable has schemas too, and ' +
        'tool_call calls tools that the client does not show: many clients read the list once only.',
    ),
  turnPauseMs: z
    .int()
    .min(0)
    .max(2 ** 31 - 1)
    .default(300_000)
    .describe(
      'MCP has no turns: a pause of this length between calls, in milliseconds, ends one. A client that knows its turns ' +
        'names them in `_meta["winnow/turn"]` of each call, and then only they count. 0: no pause ends a turn.',
    ),
});
export type McpOptions = z.output<typeof mcpOptionsSchema>;
export type McpOptionsInput = z.input<typeof mcpOptionsSchema>;

/**
 * The options with their defaults.
 * @throws WinnowError `invalid_option` naming each option that is wrong.
 * @example
 * const options = resolveMcpOptions({ toolPrefix: 'winnow_' });
 */
export function resolveMcpOptions(input: McpOptionsInput = {}): McpOptions {
  const problem = 'Options of the MCP server are not usable';
  return parseAs(mcpOptionsSchema, input, { code: 'invalid_option', problem, root: 'options' });
}

// Instructions for a client's model. Names of tools are without the prefix.

const FINDING =
  'This server has many tools and shows few. When no tool that you have fits: tool_search by what is to be done, ' +
  'tool_enable the names that fit, then call them.';
const CALLING = 'A tool that you enabled and do not see among your tools is called with tool_call.';
const NAMING =
  'The first answer of tool_search or tool_enable gives a session: name it in every later call, since what is enabled ' +
  'belongs to it.';
const PLANNING = 'For a request of several steps, plan writes them first.';
const REST =
  'Enabled tools last for some turns; enabling again prolongs. A refusal says why and what to do next. What is risky ' +
  'waits for the approval of another person: make the same call again later, and tell the user meanwhile.';

interface InstructionOptions {
  canPlan: boolean;
  followsList: boolean;
  /** The client has no connection, and names its session by a handle. Default: false. */
  byHandle?: boolean;
}

export function renderInstructions({ canPlan, followsList, byHandle = false }: InstructionOptions): string {
  const calling = [...(followsList ? [] : [CALLING]), ...(byHandle ? [NAMING] : [])];
  return [FINDING, ...calling, ...(canPlan ? [PLANNING] : []), REST].join(' ');
}
