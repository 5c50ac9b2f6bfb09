/** The door of the server: pages stay outside but for those named, bodies are JSON, and each request below `/v1` or `/mcp` has a caller. */
import cors from '@fastify/cors';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { WinnowError } from '../../../core/errors.js';
import { KEY_HEADER, REPLAYED_HEADER } from '../agents/idempotency.js';
import { requireOperator } from '../caller.js';
import { MCP_PATH } from '../mcp-route.js';
import { REQUEST_ID_HEADER } from '../problem.js';
import { type Authenticate, createAuthenticate, type Identity } from './authenticate.js';
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
  /** Names under which the server is reached, without ports. Default: those of this machine; any where callers prove who they are. */
  hostNames?: readonly string[] | undefined;
  /** Pages of these origins may ask, with a proof of who they are. Default: none. */
  cors?: { readonly origins: readonly string[] } | undefined;
}

const METRICS_PATH = '/metrics';

/** What it throws, the error handler of the server answers. @throws WinnowError `invalid_option` */
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
  // Between the two: a page can read why it was not let in, and one from elsewhere is not even told what it might ask.
  if (origins.length > 0) app.register(cors, { ...CORS, origin: [...origins] });
  app.after(() => addCallers(app, authenticate));
}

const PAGES_NEED_PROOF =
  'server.cors: pages may ask only where each caller proves who they are. Set auth, or leave it out.';

/** Without cookies: a proof is a header that the page itself sends. */
const CORS = {
  methods: ['GET', 'POST', 'PUT', 'DELETE'],
  allowedHeaders: ['authorization', 'content-type', KEY_HEADER, REQUEST_ID_HEADER],
  exposedHeaders: [REQUEST_ID_HEADER, REPLAYED_HEADER, 'retry-after'],
  maxAge: 600,
};

function addCallers(app: FastifyInstance, authenticate: Authenticate): void {
  app.addHook('onRequest', async (request, reply) => {
    // Here and not in a handler for unknown paths: that would read and judge the body first.
    if (request.is404) return;
    const isForOperators = request.routeOptions.url === METRICS_PATH && !authenticate.isOpen;
    if (!isOfCallers(request) && !isForOperators) return;
    // Between caller and server none may keep it for another: who asks need not stand in the headers that caches know.
    reply.header('cache-control', 'no-store');
    demandJson(request);
    request.identity = await authenticate(request.raw);
    if (isForOperators) requireOperator(request.identity.caller);
  });
}

/** Undefined: any, since who asks is proven whatever the name. */
export function allowedHosts({ authenticate, hostNames }: AuthOptions): readonly string[] | undefined {
  const takesAny = authenticate?.isOpen === false && hostNames === undefined;
  return takesAny ? undefined : [...LOOPBACK_HOSTS, ...(hostNames ?? [])];
}

/** A link on any page, for example in a chat, may open a page: it holds no data, and nobody can put it into a frame. */
function isLinkToPage({ routeOptions: { config }, headers }: FastifyRequest): boolean {
  return config.isPage === true && headers['sec-fetch-dest'] === 'document' && headers.origin === undefined;
}

/** By its route, since one path can be written in many ways. What is about the service itself is for anyone. */
function isOfCallers({ routeOptions: { url } }: FastifyRequest): boolean {
  return url?.startsWith('/v1/') === true || url === MCP_PATH;
}

/**
 * Also without a body: a page can send all other types without asking ahead. A DELETE is always asked for ahead by a
 * browser, and most clients send none with it.
 */
function demandJson({ method, headers }: FastifyRequest): void {
  if (method !== 'POST' && method !== 'PUT') return;
  const [type = ''] = (headers['content-type'] ?? '').split(';');
  if (type.trim().toLowerCase() === 'application/json') return;
  throw Object.assign(new Error('The type of the body is not JSON.'), { statusCode: 415 });
}
