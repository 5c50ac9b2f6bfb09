/** A small authorization server: it publishes its metadata, and gives tokens to one client for its secret. */
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export const CLIENT = { clientId: 'winnow', clientSecret: 'the-secret/of:the client' };

export interface TokenRequest {
  readonly headers: IncomingMessage['headers'];
  readonly fields: Readonly<Record<string, string>>;
}

export interface AuthorizationServer {
  readonly url: string;
  /** Lines of all requests, and those for tokens as they came. */
  readonly lines: string[];
  readonly asked: TokenRequest[];
  /** The tokens that are good now. */
  readonly tokens: Set<string>;
  /** What its metadata says besides. */
  metadata: Readonly<Record<string, unknown>>;
  /** Of a token, in seconds. */
  expiresIn: number | undefined;
  /** Answers a request for a token in its place. Default: as it should be. */
  answer: ((request: TokenRequest, response: ServerResponse) => void) | undefined;
  /** Its part of a server that has other parts, too. @returns whether the request was for it */
  handle(request: IncomingMessage, response: ServerResponse): Promise<boolean>;
  close(): void;
}

export async function listen(handle: RequestListener): Promise<{ url: string; close(): void }> {
  const server = createServer(handle);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = () => void server.close().closeAllConnections();
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close };
}

export async function startAuthorizationServer(): Promise<AuthorizationServer> {
  const { url, close } = await listen(async (request, response) => {
    if (!(await issuer.handle(request, response))) response.writeHead(404).end();
  });
  const issuer = createAuthorizationServer(url, close);
  return issuer;
}

export function createAuthorizationServer(url: string, close: () => void): AuthorizationServer {
  const issuer: AuthorizationServer = {
    ...{ url, lines: [], asked: [], tokens: new Set(), metadata: {}, expiresIn: undefined, answer: undefined, close },
    async handle(request, response) {
      const { method, url: path = '', headers } = request;
      issuer.lines.push(`${method} ${path}`);
      if (path === '/.well-known/oauth-authorization-server') {
        const endpoints = { authorization_endpoint: `${url}/authorize`, token_endpoint: `${url}/token` };
        sendJson(response, 200, { issuer: url, response_types_supported: ['code'], ...endpoints, ...issuer.metadata });
        return true;
      }
      if (path !== '/token') return false;
      const asking = { headers, fields: Object.fromEntries(new URLSearchParams(await text(request))) };
      issuer.asked.push(asking);
      if (issuer.answer) issuer.answer(asking, response);
      else giveToken(asking, response);
      return true;
    },
  };

  function giveToken({ headers, fields }: TokenRequest, response: ServerResponse): ServerResponse {
    const [id, secret] = Buffer.from((headers.authorization ?? '').replace('Basic ', ''), 'base64')
      .toString()
      .split(/:(.*)/u);
    const isKnown = id === CLIENT.clientId && secret === CLIENT.clientSecret;
    if (!isKnown) return sendJson(response, 401, { error: 'invalid_client', error_description: `not ${secret}` });
    if (fields.grant_type !== 'client_credentials') return sendJson(response, 400, { error: 'unsupported_grant_type' });
    const token = `token-number-${issuer.asked.length}-of-${url.split(':').at(-1)}`;
    issuer.tokens.add(token);
    const { expiresIn } = issuer;
    return sendJson(response, 200, {
      ...{ access_token: token, token_type: 'Bearer' },
      ...(expiresIn === undefined ? {} : { expires_in: expiresIn }),
    });
  }
  return issuer;
}

export function sendJson(response: ServerResponse, status: number, body: object): ServerResponse {
  return response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
