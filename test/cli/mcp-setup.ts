/** `winnow mcp` as a client starts it: a process of its own that speaks over stdin and stdout. */
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { StdioClientTransport as ModernTransport } from '@modelcontextprotocol/client/stdio';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { type Answer, openClient, openModern } from '../adapters/mcp/setup.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const tool = (name: string, risk: string, description: string, input: object = {}) => ({
  name,
  toolType: 'builtin',
  risk,
  description,
  inputSchema: { type: 'object', ...input },
});
const path = { properties: { path: { type: 'string' } }, required: ['path'] };
const TOOLS = [
  tool('file_list', 'low', 'Lists the files of a folder.'),
  tool('file_delete', 'high', 'Deletes a file for ever.', path),
  { ...tool('diary', 'low', 'The diary of Bob.'), scope: { user: 'bob' } },
];
/** Functions of users print what they like. */
const MODULE = `
export const file_list = () => { console.log('{"jsonrpc": "chatter"}'); return ['old.txt']; };
export const file_delete = ({ path }, { user }) => ({ gone: path, for: user });
`;

const folder = temporaryFolder();
export const at = (name: string) => join(folder, name);
writeFileSync(at('tools.json'), JSON.stringify({ tools: TOOLS }));
writeFileSync(at('tools.mjs'), MODULE);

/** As it stands in the configuration of a client, but for the loader that takes the place of a build. */
function processOf(words: readonly string[]) {
  const loader = pathToFileURL(resolve('test/support/typescript-loader.mjs')).href;
  const env = Object.entries(process.env).filter(([name]) => !name.startsWith('WINNOW_') && name !== 'NODE_OPTIONS');
  return {
    command: process.execPath,
    args: ['--import', loader, resolve('src/cli/main.ts'), 'mcp', '--catalog', at('tools.json'), ...words],
    env: { ...Object.fromEntries(env.map(([name, value]) => [name, value ?? ''])), WINNOW_LOG_LEVEL: 'info' },
    stderr: 'pipe' as const,
  };
}

/** With a client of 2026-07-28. */
export function startModern(words: string[], answer?: Answer) {
  return openModern(new ModernTransport(processOf(words)), answer);
}

export async function start(words: string[], answer?: Answer) {
  const transport = new StdioClientTransport(processOf(words));
  let stderr = '';
  transport.stderr?.on('data', (chunk) => {
    stderr += String(chunk);
  });
  const errors: Error[] = [];
  transport.onerror = (error) => errors.push(error);
  return { ...(await openClient(transport, answer)), errors, log: () => stderr };
}
