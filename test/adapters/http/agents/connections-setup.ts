/** A server whose users connect an MCP server to their own accounts there, a small issuer, and browsers. */
import { randomBytes } from 'node:crypto';
import { get, type IncomingHttpHeaders } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterEach } from 'vitest';
import { createAuthenticate } from '../../../../src/adapters/http/auth/authenticate.js';
import type { PageFile } from '../../../../src/adapters/http/page-routes.js';
import { createUserTokens } from '../../../../src/agents/connections/user-tokens.js';
import { createLiveCatalog } from '../../../../src/agents/live-catalog.js';
import type { PolicyInput } from '../../../../src/agents/policy/policy.js';
import { createMcpExecutor } from '../../../../src/agents/sandbox/executors/mcp.js';
import { openStore } from '../../../../src/agents/store/open-store.js';
import { loadCatalog } from '../../../../src/core/catalog/load.js';
import type { UserServer } from '../../../../src/core/catalog/sources/mcp-server.js';
import { CLIENT, startAuthorizationServer, startGuardedServer } from '../../../support/authorization-server.js';
import { recordLog } from '../setup.js';
import { OPERATOR_TOKEN, startAgentServer } from './setup.js';

const open: { close(): unknown }[] = [];
/** Closed after the test. */
export const opened = <One extends { close(): unknown }>(one: One): One => {
  open.push(one);
  return one;
};
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

export const OLGA = { user: 'olga', roles: 'operator' };
const TOOL = 'notes__nod';
const POLICY: PolicyInput = {
  argumentRisks: [{ match: { tool: TOOL }, risk: 'low' }],
  rules: [{ name: 'not for guests', match: { origin: 'notes', user: 'guest' }, decision: 'deny' }],
};
export const ANNS_TOKEN = 'the-secret-token-of-ann';
const authenticate = createAuthenticate({
  operatorToken: OPERATOR_TOKEN,
  tokens: [{ token: ANNS_TOKEN, user: 'ann', roles: [] }],
});

interface WorldOptions {
  publicUrl?: string;
  pages?: readonly PageFile[];
  /** Of the server, in place of the usual ones. */
  oauth?: Partial<UserServer['oauth']>;
}

export async function startConnections({ publicUrl, pages, oauth = {} }: WorldOptions = {}) {
  const issuer = opened(await startAuthorizationServer());
  const { tokens: good, accounts } = issuer;
  const describes = { authorization_servers: [issuer.url] };
  const server = opened(await startGuardedServer({ tokens: good, accounts, describes }));
  const notes: UserServer = {
    url: server.url,
    trust: true,
    oauth: { ...CLIENT, grant: 'authorization_code', issuer: issuer.url, ...oauth },
  };
  const store = await openStore();
  const state = { time: Date.now() };
  const key = randomBytes(32);
  const clock = () => new Date(state.time);
  const tokens = createUserTokens({ store: store.connections, key, clock });
  const sources = [{ kind: 'mcp' as const, servers: { notes } }];
  const live = createLiveCatalog({
    first: await loadCatalog({ sources, strict: true }),
    load: (previous) => loadCatalog({ sources, previous, keepFailed: true, tokensOf: tokens.ofOperator }),
  });
  const { logger, text: logged } = recordLog();
  const agents = await startAgentServer({
    ...{ authenticate, policy: POLICY, logger, pages },
    more: {
      ...{ store, clock, catalog: () => live.current().catalog, reload: live.reload },
      failures: () => live.current().failures,
      executors: [createMcpExecutor({ notes }, { userTokens: tokens })],
      connections: { tokens, key, publicUrl, servers: () => ({ notes }) },
    },
  });
  const { url, ask } = agents;

  /** The person agrees at the issuer with the account of their own name. */
  async function begin(who: { user: string; roles?: string }) {
    const headers = {
      ...{ authorization: `Bearer ${OPERATOR_TOKEN}`, 'content-type': 'application/json' },
      ...{ 'x-winnow-user': who.user, 'x-winnow-roles': who.roles ?? '' },
    };
    const response = await fetch(`${url}/v1/connections/notes`, { method: 'POST', headers });
    const begun = Object(await response.json());
    const [cookie = ''] = (response.headers.get('set-cookie') ?? '').split(';');
    const sent = await fetch(begun.url, { redirect: 'manual', headers: { 'x-account': who.user } });
    return { begun, cookie, setCookie: response.headers.get('set-cookie'), back: sent.headers.get('location') ?? '' };
  }

  async function connect(who: { user: string; roles?: string }) {
    const { back, cookie } = await begin(who);
    const { page } = await comeBack(back, cookie);
    if (!page.startsWith('The server "notes" is connected.')) throw new Error(page);
  }

  async function call({ user }: { user: string }) {
    const { body: session } = await ask('POST /v1/sessions', {}, { user });
    await ask(`POST /v1/sessions/${session.id}/enable`, { names: [TOOL] }, { user });
    return (await ask(`POST /v1/sessions/${session.id}/call`, { tool: TOOL }, { user })).body;
  }

  const place = (user: string) => ({ user, name: 'notes', server: notes });
  const listed = async (who: { user: string }) => (await ask('GET /v1/connections', undefined, who)).body.connections;
  const audited = async (event: string) => {
    const { body } = await ask(`GET /v1/audit?event=${event}`, undefined, OLGA);
    return body.entries.map(({ user, reason, code }: Record<string, unknown>) => ({ user, reason, code }));
  };
  const parts = { ...agents, issuer, server, notes, store, key, clock, tokens, state, logged };
  return { ...parts, begin, connect, call, place, listed, audited };
}

/** As a browser does on its way from another site. */
export async function comeBack(address: string, cookie: string) {
  const navigation = { 'sec-fetch-dest': 'document', 'sec-fetch-mode': 'navigate', 'sec-fetch-site': 'cross-site' };
  return new Promise<{ status: number | undefined; page: string; headers: IncomingHttpHeaders }>((resolve, reject) => {
    get(address, { headers: { ...navigation, cookie } }, async (response) => {
      const { statusCode: status, headers } = response;
      resolve({ status, headers, page: await text(response) });
    }).on('error', reject);
  });
}
