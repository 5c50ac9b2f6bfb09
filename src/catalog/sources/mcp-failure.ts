/** Why the tools of an MCP server could not be listed, in words that follow "The source X", and what to do. */
import type { McpServer } from './source.js';

export function describeSilence(server: McpServer, timeoutMs: number): string {
  const look = 'command' in server ? 'Start it by hand to see why' : 'Check that it runs, and the path of its URL';
  const more = 'sourceTimeoutMs in the configuration file, timeoutMs of loadCatalog';
  return `did not answer within ${timeoutMs} ms. ${look}, or allow more time (${more})`;
}
