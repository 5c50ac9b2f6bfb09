// A real MCP server for tests of calls. First argument: a file to which it appends one line an event; `http` as the second serves on a free port.

import { randomUUID } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { CallToolRequestSchema, ErrorCode, McpError } from '@modelcontextprotocol/sdk/types.js';

const [journal, way = 'stdio'] = process.argv.slice(2);
const log = (line) => appendFileSync(journal, `${line}\n`);
const text = (words) => ({ content: [{ type: 'text', text: words }] });

/** One of each kind. */
const MIXED = [
  { type: 'text', text: 'Here it is' },
  { type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png', annotations: { audience: ['user'] } },
  { type: 'audio', data: 'UklGRg==', mimeType: 'audio/wav' },
  { type: 'resource_link', uri: 'file:///a.txt', name: 'a' },
  { type: 'resource', resource: { uri: 'file:///b.bin', mimeType: 'application/zip', blob: 'UEsDBA==' } },
  { type: 'resource', resource: { uri: 'file:///c.txt', mimeType: 'text/plain', text: 'words' } },
];

const TOOLS = {
  structured: (input) => ({ content: [], structuredContent: { got: input } }),
  json_text: () => text('{"ids": ["a", "b"]}'),
  plain_text: () => text('[1] is no JSON'),
  picture: () => ({ content: [{ type: 'image', data: 'AAAA', mimeType: 'image/png' }] }),
  mixed: () => ({ content: MIXED, structuredContent: { level: 3 } }),
  blocks: () => ({ content: MIXED }),
  large: ({ base64 = 0, text = 0 }) => ({
    content: [
      { type: 'text', text: 'é'.repeat(text) },
      { type: 'image', data: 'A'.repeat(base64), mimeType: 'image/png' },
      { type: 'text', text: 'the end' },
    ],
  }),
  many: ({ count }) => ({ content: Array(count).fill({ type: 'image', data: 'AAAA', mimeType: 'image/png' }) }),
  error_picture: () => ({ content: MIXED.slice(0, 2), isError: true }),
  slow: async ({ steps }, { sendNotification, _meta }) => {
    for (let progress = 1; progress <= steps; progress++) {
      const params = { progressToken: _meta.progressToken, progress, total: steps, message: `step ${progress}` };
      await sendNotification({ method: 'notifications/progress', params });
      // A client forgets what it waits for as soon as it has the answer.
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    return text('done');
  },
  empty: () => ({ content: [] }),
  error: () => ({ ...text('no such note'), isError: true }),
  refuse: () => {
    throw new McpError(ErrorCode.InvalidParams, 'unknown note');
  },
  die: () => process.exit(1),
  hang: (_, { signal }) =>
    new Promise((resolve) => {
      signal.addEventListener('abort', () => {
        log('cancelled');
        resolve(text('too late'));
      });
    }),
  pid: () => text(String(process.pid)),
};

log(`start ${process.pid}`);
if (way === 'http') await serveHttp();
else await createToolServer().connect(new StdioServerTransport());

function createToolServer() {
  const server = new Server({ name: 'calls', version: '1.0.0' }, { capabilities: { tools: {} } });
  server.setRequestHandler(CallToolRequestSchema, ({ params }, extra) => {
    log(`call ${params.name}`);
    return TOOLS[params.name](params.arguments, extra);
  });
  return server;
}

async function serveHttp() {
  // Only here: it takes as long to load as all else, and most tests talk over stdin and stdout.
  const { StreamableHTTPServerTransport } = await import('@modelcontextprotocol/sdk/server/streamableHttp.js');
  const sessions = new Map();
  const http = createServer(async (request, response) => {
    const id = request.headers['mcp-session-id'];
    if (request.url === '/forget') {
      sessions.clear();
      return response.end();
    }
    let transport = sessions.get(id);
    if (!transport && id !== undefined) return response.writeHead(404).end('no such session');
    if (!transport) {
      transport = new StreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        enableJsonResponse: true,
        onsessioninitialized: (session) => sessions.set(session, transport),
        onsessionclosed: (session) => {
          log('session closed');
          sessions.delete(session);
        },
      });
      await createToolServer().connect(transport);
    }
    await transport.handleRequest(request, response);
  });
  http.listen(0, '127.0.0.1', () => process.stdout.write(`port ${http.address().port}\n`));
}
