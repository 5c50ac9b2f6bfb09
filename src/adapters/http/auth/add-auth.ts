/**
 * Access control, before a body is read: refuses foreign web pages, demands JSON, identifies callers below `/v1` and `/mcp`, and
 * keeps routes of operators to them.
 */
import cors from '@fastify/cors';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { WinnowError } from '../../../core/errors.js';
import { KEY_HEADER, REPLAYED_HEADER } from '../agents/idempotency.js';
import { requireOperator } from '../caller.js';
import { MCP_PATH } from '../mcp-route.js';
import { REQUEST_ID_HEADER } from '../problem.js';
import { type Authenticate, createAuthenticate, type Identity, unauthenticated } from './authenticate.js';
import { createPageGuard, LOOPBACK_HOSTS } from './page-guard.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** Of requests below `/v1` and `/mcp`. */
    identity: Identity;
  }
}

export interface AuthOptions {
  /** Default: programs of this machine are trusted, all others refused. */
  authenticate?: Authenticate | undefined;
  /** The server's host names, without ports. Default: those of this machine; any name if callers prove who they are. */
  hostNames?: readonly string[] | undefined;
  /** Origins whose pages may send requests, with proof of identity. Default: none. */
  cors?: { readonly origins: readonly string[] } | undefined;
}

const METRICS_PATH = '/metrics';

/** The server's error handler answers refused requests. @throws WinnowError `invalid_option` */
export function addAuth(app: FastifyInstance, options: AuthOptions): void {
  const { authenticate = createAuthenticate() } = options;
  const origins = options.cors?.origins ?? [];
  if (origins.length > 0 && authenticate.isOpen) throw new WinnowError('invalid_option', PAGES_NEED_PROOF);
  const guard = createPageGuard({ allowedHosts: allowedHosts(options), origins });
  app.decorateRequest('identity');
  app.addHook('onRequest', async (request) => {
    const page = guard(isLinkToPage(request) ? { host: request.headers.host } : request.headers);
    if (page !== undefined) throw new WinnowError('forbidden', page);
  });
  // Between the two: an allowed page can read why it was refused, and others don't learn what is allowed.
  if (origins.length > 0) app.register(cors, { ...CORS, origin: [...origins] });
  app.after(() => addCallers(app, authenticate));
}

const PAGES_NEED_PROOF =
  'server.cors: pages may ask only where each caller proves who they are. Set auth, or leave it out.';

/** Without cookies: the page itself sends its proof as a header. */
const CORS = {
  methods: ['GET', 'POST', 'PUT', 'DELETE'],
  allowedHeaders: ['authorization', 'content-type', KEY_HEADER, REQUEST_ID_HEADER],
  exposedHeaders: [REQUEST_ID_HEADER, REPLAYED_HEADER, 'retry-after'],
  maxAge: 600,
};

function addCallers(app: FastifyInstance, authenticate: Authenticate): void {
  app.addHook('onRequest', async (request, reply) => {
    // A later hook answers unknown paths; a handler would parse the body first.
    if (request.is404) return;
    const isOfMetrics = request.routeOptions.url === METRICS_PATH && !authenticate.isOpen;
    if (!isOfCallers(request) && !isOfMetrics) return;
    // Shared caches must not store it: they may not know the header that identifies the caller.
    reply.header('cache-control', 'no-store');
    demandJson(request);
    request.identity = await authenticate(request.raw);
    const { isForOperators, needsProof } = request.routeOptions.config.operation ?? {};
    if (isForOperators || isOfMetrics) requireOperator(request.identity.caller);
    if (needsProof && !request.identity.isProven) throw unauthenticated(NEEDS_PROOF);
  });
}

const NEEDS_PROOF =
  'Who decides must prove who they are: send "authorization: Bearer TOKEN", with the operator\'s token of this machine ' +
  '(its file stands in the log of the server) or one of your own.';

/** Undefined: any name, since callers prove who they are. */
export function allowedHosts({ authenticate, hostNames }: AuthOptions): readonly string[] | undefined {
  const takesAny = authenticate?.isOpen === false && hostNames === undefined;
  return takesAny ? undefined : [...LOOPBACK_HOSTS, ...(hostNames ?? [])];
}

/** Any page, for example a chat, may link to the console: it holds no data and can't be framed. */
function isLinkToPage({ routeOptions: { config }, headers }: FastifyRequest): boolean {
  return config.isPage === true && headers['sec-fetch-dest'] === 'document' && headers.origin === undefined;
}

/** By its route, since one path can be written in many ways. Endpoints of the service itself and pages are open. */
function isOfCallers({ routeOptions: { url, config } }: FastifyRequest): boolean {
  return (url?.startsWith('/v1/') === true && config.isPage !== true) || url === MCP_PATH;
}

/**
 * Also without a body: a page can send all other types without a CORS preflight. Browsers send a preflight for every
 * DELETE, and most clients send no type with it.
 */
function demandJson({ method, headers }: FastifyRequest): void {
  if (method !== 'POST' && method !== 'PUT') return;
  const [type = ''] = (headers['content-type'] ?? '').split(';');
  if (type.trim().toLowerCase() === 'application/json') return;
  throw Object.assign(new Error('The type of the body is not JSON.'), { statusCode: 415 });
}
