// A real MCP server of 2026-07-28, and of no earlier revision. First argument: a file to which it appends one line an event;
// `http` as the second serves on a free port.

import { appendFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import {
  createMcpHandler,
  inputRequired,
  inputResponse,
  ProtocolError,
  ProtocolErrorCode,
  Server,
} from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { createTools, OFFERS } from './mcp-call-tools.mjs';

const [file, way = 'stdio'] = process.argv.slice(2);
const journal = (line) => appendFileSync(file, `${line}\n`);
const refuse = () => {
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'unknown note');
};
const tools = createTools({ journal, refuse });

journal(`start ${process.pid}`);
if (way === 'http') serveHttp();
else serveStdio(createToolServer, { legacy: 'reject' });

function createToolServer() {
  const capabilities = { tools: {}, logging: {}, resources: {}, prompts: {}, completions: {} };
  const server = new Server({ name: 'calls', version: '2.0.0' }, { capabilities });
  for (const [method, answer] of Object.entries(OFFERS))
    server.setRequestHandler(method, ({ params }) => answer(params));
  server.setRequestHandler('tools/list', () => ({
    tools: Object.keys(tools).map((name) => ({ name, inputSchema: { type: 'object' } })),
  }));
  server.setRequestHandler('tools/call', ({ params }, { mcpReq }) => {
    journal(`call ${params.name}`);
    const { notify, log, signal, _meta } = mcpReq;
    const { kind: _, ...answer } = inputResponse(mcpReq.inputResponses, 'form');
    if (params.name === 'ask' && answer.action === undefined)
      return inputRequired({ inputRequests: { form: inputRequired.elicit(params.arguments) } });
    if (params.name === 'ask_much') {
      const names = Array.from({ length: 21 }, (_, place) => `form${place}`);
      const form = inputRequired.elicit({ message: 'x', requestedSchema: { type: 'object', properties: {} } });
      return inputRequired({ inputRequests: Object.fromEntries(names.map((name) => [name, form])) });
    }
    return tools[params.name](params.arguments, {
      ...{ notify, log, signal, token: _meta?.progressToken },
      ask: () => answer,
    });
  });
  return server;
}

function serveHttp() {
  const handler = createMcpHandler(createToolServer, { legacy: 'reject' });
  const http = createServer(async (request, response) => {
    const { method, headers } = request;
    const gone = new AbortController();
    response.on('close', () => gone.abort());
    const body = method === 'POST' ? { body: await buffer(request) } : {};
    const url = `http://127.0.0.1${request.url}`;
    const answer = await handler.fetch(new Request(url, { method, headers, signal: gone.signal, ...body }));
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    if (answer.body)
      Readable.fromWeb(answer.body)
        .on('error', () => response.destroy())
        .pipe(response);
    else response.end();
  });
  http.listen(0, '127.0.0.1', () => process.stdout.write(`port ${http.address().port}\n`));
}
