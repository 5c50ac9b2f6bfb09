// A real MCP server of before 2026-07-28 for tests of calls. First argument: a file to which it appends one line an event;
// `http` or `sse` as the second serves on a free port.

import { randomUUID } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import {
  CallToolRequestSchema,
  CompleteRequestSchema,
  ElicitResultSchema,
  ErrorCode,
  GetPromptRequestSchema,
  ListPromptsRequestSchema,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  McpError,
  ReadResourceRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { createTools, OFFERS } from './mcp-call-tools.mjs';

const [file, way = 'stdio'] = process.argv.slice(2);
const journal = (line) => appendFileSync(file, `${line}\n`);
const refuse = () => {
  throw new McpError(ErrorCode.InvalidParams, 'unknown note');
};
const tools = createTools({ journal, refuse });
const OTHER_REQUESTS = [
  ['resources/list', ListResourcesRequestSchema],
  ['resources/templates/list', ListResourceTemplatesRequestSchema],
  ['resources/read', ReadResourceRequestSchema],
  ['prompts/list', ListPromptsRequestSchema],
  ['prompts/get', GetPromptRequestSchema],
  ['completion/complete', CompleteRequestSchema],
];
const SERVE = { stdio: () => createToolServer().connect(new StdioServerTransport()), http: serveHttp, sse: serveSse };

journal(`start ${process.pid}`);
await SERVE[way]();

function createToolServer() {
  const info = { name: 'calls', version: '1.0.0' };
  const capabilities = { tools: {}, logging: {}, resources: {}, prompts: {}, completions: {} };
  const server = new Server(info, { capabilities });
  for (const [method, schema] of OTHER_REQUESTS)
    server.setRequestHandler(schema, ({ params }) => OFFERS[method](params));
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: Object.keys(tools).map((name) => ({ name, inputSchema: { type: 'object' } })),
  }));
  server.setRequestHandler(CallToolRequestSchema, ({ params }, { sendNotification, sendRequest, signal, _meta }) => {
    journal(`call ${params.name}`);
    const log = (level, data, logger) =>
      sendNotification({ method: 'notifications/message', params: { level, data, logger } });
    const ask = (form) => sendRequest({ method: 'elicitation/create', params: form }, ElicitResultSchema);
    const token = _meta?.progressToken;
    return tools[params.name](params.arguments, { notify: sendNotification, log, ask, signal, token });
  });
  return server;
}

async function serveHttp() {
  // Only here: it takes as long to load as all else, and most tests talk over stdin and stdout.
  const { StreamableHTTPServerTransport } = await import('@modelcontextprotocol/sdk/server/streamableHttp.js');
  const sessions = new Map();
  listen(async (request, response) => {
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
        onsessioninitialized: (session) => sessions.set(session, transport),
        onsessionclosed: (session) => {
          journal('session closed');
          sessions.delete(session);
        },
      });
      await createToolServer().connect(transport);
    }
    return transport.handleRequest(request, response);
  });
}

/** One stream a client, and another address for what it says; a POST to the stream's own is refused. */
async function serveSse() {
  const { SSEServerTransport } = await import('@modelcontextprotocol/sdk/server/sse.js');
  const sessions = new Map();
  listen(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url, 'http://127.0.0.1');
    if (pathname === '/messages')
      return sessions.get(searchParams.get('sessionId')).handlePostMessage(request, response);
    if (request.method !== 'GET') return response.writeHead(405).end();
    if (pathname === '/drop') {
      for (const { res } of sessions.values()) res.end();
      return response.end();
    }
    const transport = new SSEServerTransport('/messages', response);
    sessions.set(transport.sessionId, transport);
    transport.onclose = () => journal('session closed');
    return createToolServer().connect(Object.assign(transport, { res: response }));
  });
}

function listen(answer) {
  const http = createServer(answer);
  http.listen(0, '127.0.0.1', () => process.stdout.write(`port ${http.address().port}\n`));
}
