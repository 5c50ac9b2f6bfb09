/** A tool for a test, from what the test is about. */
import { type JsonSchema, parseTool, type Tool, type ToolEntry } from '../../src/core/catalog/tool.js';

export function createTool(
  name: string,
  input: JsonSchema = {},
  output?: JsonSchema,
  more: Partial<ToolEntry> = {},
): Tool {
  const parsed = parseTool(
    {
      name,
      toolType: 'builtin',
      inputSchema: { type: 'object', ...input },
      ...(output === undefined ? {} : { outputSchema: output }),
      ...more,
    },
    { origin: 'test', index: 0 },
  );
  if (!parsed.ok) throw new Error(parsed.issues.map(({ message }) => message).join('; '));
  return parsed.tool;
}
