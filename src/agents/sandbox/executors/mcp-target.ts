/** Which server has a tool, and what the server itself calls it; as `catalog/sources/mcp.ts` writes it. */
import { z } from 'zod';
import type { Tool } from '../../../core/catalog/tool.js';

const targetSchema = z.object({
  server: z.string().min(1),
  tool: z.string().min(1),
  target: z.string().optional(),
});
export type McpTarget = z.infer<typeof targetSchema>;

export function readMcpTarget(tool: Tool): McpTarget | undefined {
  return targetSchema.safeParse(tool.metadata.mcp).data;
}
