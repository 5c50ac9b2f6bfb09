/** Configurations as other programs have them, read and not started. */
import { mkdir, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { loadCatalog } from '../../../../src/core/catalog/load.js';
import { detectSource } from '../../../../src/core/catalog/sources/formats.js';
import { loadMcpConfig } from '../../../../src/core/catalog/sources/mcp-config.js';
import { temporaryFolder } from '../../../support/temporary-folder.js';

let folder: string;
beforeEach(() => {
  folder = temporaryFolder();
});

async function load(content: unknown, file = 'mcp.json') {
  const path = join(folder, file);
  await mkdir(join(path, '..'), { recursive: true });
  await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content));
  const variables: Record<string, string> = { HUB_KEY: 'abc', EMPTY: '' };
  const context = { timeoutMs: 1_000, variable: (name: string) => variables[name] };
  const { servers, failures } = await loadMcpConfig(path, context);
  return { servers, messages: failures.map(({ error }) => error.message.replaceAll(folder, '')), failures };
}

describe('the configuration of', () => {
  it('Claude Desktop', async () => {
    const files = { command: 'npx', args: ['-y', '@modelcontextprotocol/server-filesystem', '/tmp'], env: { A: 'b' } };
    expect(await load({ mcpServers: { files } }, 'claude_desktop_config.json')).toMatchObject({
      servers: { files },
      messages: [],
    });
  });

  it('Cursor', async () => {
    const mcpServers = {
      desk: {
        type: 'stdio',
        command: '${workspaceFolder}/run',
        args: ['${userHome}'],
        envFile: '${workspaceFolder}/.env',
      },
      hub: { url: 'https://hub.test/mcp', headers: { authorization: 'Bearer ${env:HUB_KEY}' } },
    };
    await writeFile(join(folder, '.env'), '# keys\nTOKEN="a b"\nLEVEL=2\n');
    expect((await load({ mcpServers }, '.cursor/mcp.json')).servers).toEqual({
      desk: {
        ...{ type: 'stdio', command: `${folder}/run`, args: [homedir()] },
        env: { TOKEN: 'a b', LEVEL: '2' },
      },
      hub: { url: 'https://hub.test/mcp', headers: { authorization: 'Bearer abc' } },
    });
  });

  it('VS Code, with what its inputs have as default', async () => {
    const inputs = [{ type: 'promptString', id: 'host', description: 'Host', default: 'hub.test' }];
    const servers = {
      hub: { type: 'http', url: 'https://${input:host}/${workspaceFolderBasename}' },
      desk: { command: 'node', cwd: 'server', env: { LEVEL: '3' }, envFile: 'dev.env', dev: { watch: '*' } },
    };
    await writeFile(join(folder, 'dev.env'), 'LEVEL=2\nTOKEN=x');
    expect((await load({ servers, inputs }, '.vscode/mcp.json')).servers).toEqual({
      hub: { type: 'http', url: `https://hub.test/${basename(folder)}` },
      desk: { command: 'node', cwd: join(folder, '.vscode', 'server'), env: { LEVEL: '3', TOKEN: 'x' } },
    });
  });

  const COMMENTED = `{
    // The hub
    "servers": {
      "hub": { "url": "https://hub.test/mcp", /* no key */ },
    },
  }`;
  it('VS Code, with comments and trailing commas', async () => {
    expect((await load(COMMENTED, '.vscode/mcp.json')).servers).toEqual({ hub: { url: 'https://hub.test/mcp' } });
    expect(await detectSource(join(folder, '.vscode/mcp.json'))).toMatchObject({ kind: 'mcp' });
  });

  it('VS Code, with a slip, whose line and column are named', async () => {
    const loading = load(COMMENTED.replace('"url":', '"url"'), '.vscode/mcp.json');
    await expect(loading).rejects.toThrow('is not JSON (line 4, column 22: Colon expected)');
  });

  it('a public client of an issuer, which users authorize', async () => {
    const hub = { url: 'https://hub.test', oauth: { grant: 'authorization_code', clientId: 'a' } };
    expect((await load({ mcpServers: { hub } })).servers).toEqual({ hub });
  });

  it.each(['http', 'streamable-http', 'streamableHttp', 'sse'])('a server of the type %s', async (type) => {
    const hub = { type, url: 'https://hub.test' };
    expect((await load({ mcpServers: { hub } })).servers).toEqual({ hub });
  });
});

describe('a server whose configuration is wrong', () => {
  const inputs = [{ id: 'key', password: true }];

  it.each([
    ['a misspelt command', { comand: 'node' }, 'mcpServers.bad.comand: an unknown key; "command" may be meant'],
    ['two letters in the wrong order', { command: 'node', agrs: [] }, '.agrs: an unknown key; "args" may be meant'],
    ['a short key in the wrong order', { command: 'node', evn: {} }, '.evn: an unknown key; "env" may be meant'],
    ['another case', { URL: 'https://hub.test' }, 'mcpServers.bad.URL: an unknown key; "url" may be meant'],
    ['a misspelt list', { command: 'node', arg: [] }, 'mcpServers.bad.arg: an unknown key; "args" may be meant'],
    ['a misspelt key', { url: 'https://a.test', header: {} }, '.header: an unknown key; "headers" may be meant'],
    ['neither', { cmd: 'node' }, 'mcpServers.bad: neither "command" nor "url"). Write it as {"command", "args"} or'],
    ['no object', 'node', 'mcpServers.bad: not an object'],
    ['a wrong type', { type: 'websocket', url: 'https://a.test' }, 'mcpServers.bad.type: Invalid option'],
    ['a number among its arguments', { command: 'node', args: [1] }, 'mcpServers.bad.args.0: Invalid input'],
    ['an input', { url: 'https://a.test/${input:key}' }, 'asks for the input:key, as only an editor does: write a'],
    ['an empty variable', { url: 'https://a.test/${EMPTY}' }, 'names the variable EMPTY, which is not set: set it'],
    [
      'a misspelt key of oauth',
      { url: 'https://a.test', oauth: { clientId: 'a', clientSecret: 'b', isuer: 'https://id.test' } },
      'mcpServers.bad.oauth.isuer: an unknown key; "issuer" may be meant',
    ],
    [
      'no secret',
      { url: 'https://a.test', oauth: { clientId: 'a' } },
      'mcpServers.bad.oauth.clientSecret: client credentials need it',
    ],
    [
      'a secret that is not set',
      { url: 'https://a.test', oauth: { clientId: 'a', clientSecret: '${EMPTY}' } },
      'names the variable EMPTY, which is not set: set it',
    ],
    [
      'an issuer that is no URL',
      { url: 'https://a.test', oauth: { clientId: 'a', clientSecret: 'b', issuer: 'id.test' } },
      'has a url in oauth.issuer that is not an http(s) URL: correct it',
    ],
    [
      'two ways to say who asks',
      { url: 'https://a.test', oauth: { clientId: 'a', clientSecret: 'b' }, headers: { Authorization: 'Bearer a' } },
      'mcpServers.bad: "oauth" and the header "authorization" say who asks: leave one of them out',
    ],
    ['a URL that is none', { url: 'file:///etc' }, 'has a url that is not an http(s) URL: correct it'],
    [
      'an envFile that is not there',
      { command: 'node', envFile: 'no.env' },
      "has an envFile that can't be read (ENOENT",
    ],
  ])('by %s is left out, and told where and what may be meant', async (_, bad, message) => {
    const good = { command: 'node', alwaysAllow: ['a'], timeout: 60, tools: ['*'] };
    const read = await load({ mcpServers: { bad, good }, inputs });
    expect(Object.keys(read.servers)).toEqual(['good']);
    expect(read.messages).toEqual([expect.stringContaining(message)]);
    expect(read.messages).toEqual([expect.stringContaining('mcp.json#bad ')]);
    // Whoever only calls tools need not know what stands in the file.
    expect(read.failures[0]?.server).toEqual({ name: 'bad', reason: 'has a configuration that is not usable' });
  });

  it('is told under the key that the file has', async () => {
    const { messages } = await load({ servers: { bad: { comand: 'node' } } }, '.vscode/mcp.json');
    expect(messages).toEqual([expect.stringContaining('(servers.bad.comand: an unknown key; "command" may be meant')]);
    await expect(load({ servers: { '': {} } })).rejects.toThrow('is no MCP configuration (servers.: ');
    await expect(load({ mcpServers: null })).rejects.toThrow('is no MCP configuration (mcpServers: ');
    await expect(load({})).rejects.toThrow('is no MCP configuration (mcpServers: ');
  });

  it('by a name that no object can have is refused with its file', async () => {
    const content = JSON.parse('{"mcpServers": {"__proto__": {"command": "a"}}}');
    await expect(load(content)).rejects.toThrow('has a server of the name "__proto__". Rename it');
  });

  it('by a name that gives the prefix of another is left out, since one could answer for the other', async () => {
    const read = await load({ mcpServers: { my_notes: { command: 'a' }, 'my.notes': { command: 'b' } } });
    expect(read.servers).toEqual({ my_notes: { command: 'a' } });
    const message = 'mcp.json#my.notes would have the prefix of the server "my_notes": rename one of them.';
    expect(read.messages).toEqual([expect.stringContaining(message)]);
  });
});

it.each(['mcpServers', 'servers'])('warns of a file whose %s are none', async (key) => {
  const path = join(folder, 'mcp.json');
  await writeFile(path, JSON.stringify({ [key]: {} }));
  const { issues } = await loadCatalog({ sources: [path] });
  expect(issues).toEqual([{ level: 'warning', entry: path, message: `${key}: no server in it` }]);
});
