/**
 * What an MCP client pays for 1,174 tools of public servers: all of them listed, and through Winnow, whose own tools it
 * lists and which it then asks for others. A client of 2026-07-28 over HTTP, and what it gets is what goes to a model: the
 * list of tools as schemas, and the text of answers.
 *
 *   npm run build && node test/bench/mcp-tokens.mjs [--searches 50]
 *
 * Exits with 1 where the session has paid a tenth or more of all schemas. Skipped where the tools are not there.
 */
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { createMcpEndpoint, resolveMcpOptions } from '../../dist/adapters/mcp/index.js';
import { createAgents } from '../../dist/agents/agents.js';
import { createPolicy } from '../../dist/agents/policy/policy.js';
import { fixedPolicy } from '../../dist/agents/policy/policy-file.js';
import { openStore } from '../../dist/agents/store/open-store.js';
import { estimateTokens } from '../../dist/core/model/count-tokens.js';
import { createCatalog } from '../../dist/index.js';
import { realTools, whereReal } from './bench-catalogs.mjs';
import { REAL_MCP_REQUESTS } from './real-mcp-requests.mjs';
import { renderNumber, renderTable } from './statistics.mjs';

const { values: flags } = parseArgs({ options: { searches: { type: 'string', default: '50' } } });
const SHARE = 0.1;

const tools = realTools();
if (tools) process.exitCode = (await measure(tools)) < SHARE ? 0 : 1;
else console.error(`Skipped: ${whereReal}.`);

async function measure(listed) {
  const { client, close } = await connect(createCatalog(listed));
  const all = sum(listed);
  const own = sum((await client.listTools()).tools);
  const searches = [];
  let session;
  for (const query of queries(listed, Number(flags.searches))) {
    const { paid, content } = await call(client, 'tool_search', { query, ...(session ? { session } : {}) });
    session ??= content.session;
    searches.push(paid);
  }
  const paid = searches.reduce((total, one) => total + one, own);
  const { paid: enabled } = await call(client, 'tool_enable', { names: ['github__create_issue'], session });
  await close();
  const rows = [
    ['all tools listed', listed.length, all],
    ["Winnow's own tools listed", 1, own],
    ['a search, five matches', 1, searches.reduce((total, one) => total + one, 0) / searches.length],
    ['a tool enabled, with its schema', 1, enabled],
    [`list and ${searches.length} searches`, 1, paid],
  ].map(([what, count, tokens]) => [
    what,
    renderNumber(count),
    renderNumber(tokens),
    `${((tokens / all) * 100).toFixed(1)} %`,
  ]);
  console.log(renderTable(['what', 'times', 'tokens', 'of all schemas'], rows));
  return paid / all;
}

/** The thirty requests, then the first words of what tools say of themselves, spread over all. */
function queries(listed, count) {
  const asked = REAL_MCP_REQUESTS.map(({ message }) => message);
  const step = Math.floor(listed.length / count);
  const more = Array.from({ length: count }, (_, place) =>
    listed[place * step].description.split(/\s+/u).slice(0, 8).join(' '),
  );
  return [...asked, ...more.filter((query) => query !== '')].slice(0, count);
}

/** What a model reads of an answer. */
async function call(client, name, given) {
  const { content, structuredContent, isError } = await client.callTool({ name, arguments: given });
  if (isError) throw new Error(JSON.stringify(structuredContent));
  return { paid: estimateTokens(content.map(({ text }) => text).join('\n')), content: structuredContent };
}

/** What a model is given of each tool. */
function sum(some) {
  const shown = some.map(({ name, description, inputSchema }) => JSON.stringify({ name, description, inputSchema }));
  return shown.reduce((total, one) => total + estimateTokens(one), 0);
}

async function connect(catalog) {
  const policy = fixedPolicy(createPolicy({}));
  const agents = createAgents({ store: await openStore(), catalog: () => catalog, policy, executors: [] });
  await agents.index.settled();
  const { router, plans } = agents;
  const notOffered = () => Promise.reject(new Error('nothing is planned here'));
  const planner = { plan: notOffered, select: notOffered };
  const endpoint = createMcpEndpoint({ router, plans, planner, options: resolveMcpOptions(), logger: console });
  const server = createServer(async (request, response) => {
    await endpoint.handle({ request, response, body: await json(request), caller: { user: 'ann' } });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const client = new Client(
    { name: 'bench', version: '1.0.0' },
    { versionNegotiation: { mode: { pin: '2026-07-28' } } },
  );
  await client.connect(new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${server.address().port}`)));
  return {
    client,
    async close() {
      await client.close();
      await endpoint.close();
      server.closeAllConnections();
      server.close();
      await agents.close();
    },
  };
}
