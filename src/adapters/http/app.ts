/** Winnow over HTTP: parses bodies, calls the planner and maps errors. It decides nothing itself. */
import type { ServerResponse } from 'node:http';
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify';
import { z } from 'zod';
import type { Agents } from '../../agents/agents.js';
import { createLogger, type Logger } from '../../agents/logging/logger.js';
import type { Catalog } from '../../core/catalog/catalog.js';
import { ERROR_TABLE, toWinnowError, WinnowError } from '../../core/errors.js';
import type { Planner } from '../../core/planner.js';
import { isTracing, withRequestSpan } from '../../core/spans.js';
import { addAgentRoutes, agentRoutes } from './agents/add-agent-routes.js';
import { addConnectionCallback } from './agents/connection-routes.js';
import { type Evaluations, evaluationRoutes } from './agents/evaluation-routes.js';
import { createOnce } from './agents/idempotency.js';
import { createAnswerWork } from './answer-work.js';
import { type AuthOptions, addAuth } from './auth/add-auth.js';
import { createConceal } from './conceal.js';
import { addDocsPage } from './docs-page.js';
import { createGate } from './gate.js';
import { addGracefulStop, type Stop } from './graceful-stop.js';
import { addMcpRoute, MCP_PATH, type McpEndpoint } from './mcp-route.js';
import { addOpenApi, type Named } from './openapi.js';
import { addPageRoutes, type PageFile } from './page-routes.js';
import { addPlanRoutes, type Outcomes } from './plan-routes.js';
import {
  answerBrokenRequest,
  createReportError,
  faultProblem,
  REQUEST_ID_HEADER,
  requestIdOf,
  sendProblem,
} from './problem.js';
import { createReadiness } from './readiness.js';
import { SERVER_DEFAULTS, type ServerOptions } from './server-options.js';
import { addToolRoutes } from './tool-routes.js';
import { boundUnreadAnswers } from './unread-answers.js';

export interface ServerParts extends AuthOptions {
  planner: Planner;
  /** Makes a planner for a request's own tools. Default: requests can't bring tools. */
  plannerOf?: ((catalog: Catalog) => Planner) | undefined;
  /** Sessions, approvals, calls and runs of plans. Default: the server plans only. */
  agents?: Agents | undefined;
  /** Runs of `winnow eval`, beside `agents`. Default: there is no such path. */
  evaluations?: Evaluations | undefined;
  /** MCP under `/mcp`. Default: there is no such path. */
  mcp?: McpEndpoint | undefined;
  /** A web page of these files; `readConsole` reads those of the console. Default: there is no page. */
  pages?: readonly PageFile[] | undefined;
  options?: Partial<ServerOptions> | undefined;
  /** Throws if the model does not answer. `GET /readyz` calls it at most once a minute. Default: no check. */
  askModel?: (() => Promise<unknown>) | undefined;
  /** Default: nothing is logged. */
  logger?: Logger | undefined;
  /** Called by `close()`, after `agents` are closed, when no request runs any more, for example to close the model. */
  onClose?: (() => Promise<void>) | undefined;
}

/** Not listening yet: `listen({ host, port })` starts it, `close()` stops it gracefully. */
export function createServer({
  planner,
  agents,
  mcp,
  logger = createLogger({ level: 'silent' }),
  ...parts
}: ServerParts): FastifyInstance {
  const options: ServerOptions = { ...SERVER_DEFAULTS, ...parts.options };
  const reportError = createReportError(logger, { ...options, isStopping: () => stop.isStopping });
  const onError = (error: unknown, request: FastifyRequest, reply: FastifyReply) => {
    const problem = reportError(error, request);
    if (problem.code === 'overloaded' || problem.code === 'quota_exceeded') {
      const { retryAfterSeconds = options.retryAfterSeconds } = toWinnowError(error).details;
      reply.header('retry-after', retryAfterSeconds);
    }
    return sendProblem(reply, problem);
  };
  const app = fastify({
    // Fastify's own log lines hold URLs, and a URL may name a user.
    logger: false,
    bodyLimit: options.bodyLimitBytes,
    requestTimeout: options.receiveTimeoutMs,
    // By default Node checks every 30 s, and allows a minute for the headers alone.
    http: {
      headersTimeout: options.receiveTimeoutMs,
      connectionsCheckingInterval: Math.min(1_000, Math.ceil(options.receiveTimeoutMs / 4)),
    },
    return503OnClosing: false,
    routerOptions: { maxParamLength: MAX_NAME_CHARACTERS },
    genReqId: requestIdOf,
    clientErrorHandler: answerBrokenRequest,
    frameworkErrors: onError,
  });
  const sendUnknownPath = createUnknownPath(app);
  app.removeContentTypeParser('text/plain');
  takeEmptyBodies(app);
  app.setErrorHandler(onError);
  const stop = addGracefulStop(app, options);
  const outcomes: Outcomes = new WeakMap();
  const { metrics } = agents ?? {};
  addRequestHooks(app, { logger, stop, onError, outcomes, metrics });
  addAuth(app, parts);
  if (agents?.connections && parts.authenticate?.isOpen !== false)
    throw new WinnowError('invalid_option', CONNECTIONS_NEED_PROOF);
  boundUnreadAnswers(app);
  addRequestSpans(app);
  // For missing files of /docs only: the hook below answers all other unknown paths.
  app.setNotFoundHandler(sendUnknownPath);
  app.after(() =>
    app.addHook('onRequest', async (request, reply) => (request.is404 ? sendUnknownPath(request, reply) : undefined)),
  );
  const { heartbeatMs } = options;
  const gate = createGate(options.concurrency);
  const answerWork = createAnswerWork({ gate, stop, heartbeatMs, reportError });
  const once = createOnce(app, agents?.answers, stop);
  const conceal = createConceal(planner, agents);
  const measure = (one: Planner) => agents?.measure(one) ?? one;
  const { plannerOf } = parts;
  const measured = {
    planner: measure(planner),
    plannerOf: plannerOf && ((catalog: Catalog) => measure(plannerOf(catalog))),
  };
  const ready = createReadiness([
    ...(agents ? [{ run: agents.ready, holdsMs: STORE_CHECK_MS, withinMs: STORE_CHECK_MS }] : []),
    ...(parts.askModel ? [{ run: parts.askModel, holdsMs: MODEL_CHECK_MS }] : []),
  ]);
  const renderOpenApi = addOpenApi(app);
  addDocsPage(app, renderOpenApi);
  app.after(() => {
    addPlanRoutes(app, { ...measured, logger, conceal, answerWork, outcomes, gate, reportError, once });
    addToolRoutes(app, planner, conceal);
    const { evaluations } = parts;
    const origin = () => app.listeningOrigin;
    const routes = agents
      ? [...agentRoutes(agents, origin), ...(evaluations ? evaluationRoutes(evaluations) : [])]
      : [];
    if (agents) addAgentRoutes(app, { ...agents, routes, answerWork, gate, stop, once });
    const { connections, rebuild } = agents ?? {};
    if (connections && rebuild) addConnectionCallback(app, { connections, rebuild, reportError });
    if (mcp) addMcpRoute(app, { mcp, gate, stop });
    addServiceRoutes(app, ready, renderOpenApi);
    addPageRoutes(app, parts.pages ?? []);
  });
  app.addHook('onClose', async () => {
    await agents?.close();
    await parts.onClose?.();
  });
  return app;
}

const CONNECTIONS_NEED_PROOF =
  "connections: users' own tokens need callers who prove who they are. Set auth, or take the key of the tokens away.";

/** Longest parameter of a path; names of tools are not longer. */
const MAX_NAME_CHARACTERS = 256;

/** More is a mistake or an attack, and would overflow the stack of recursive code. */
const MAX_BODY_DEPTH = 256;

const TOO_DEEP = `The body is nested more than ${MAX_BODY_DEPTH} levels deep. Send it flatter.`;

/** A body of 1 MiB may have some 100,000 values: problems of more take seconds to write. */
const BYTES_A_VALUE = 10;

const TOO_MANY = 'The body has more values than its size is for. Send less at once.';

/** How deep lists and objects are nested, and how many values there are, measured before parsing. */
function measure(json: string): { depth: number; values: number } {
  let [depth, most, values, isText] = [0, 0, 0, false];
  for (let place = 0; place < json.length; place++) {
    const character = json[place];
    if (character === '"') isText = !isText;
    else if (isText && character === '\\') place += 1;
    else if (!isText && character === ',') values += 1;
    else if (!isText && (character === '{' || character === '[')) {
      most = Math.max(most, ++depth);
      values += 1;
    } else if (!isText && (character === '}' || character === ']')) depth -= 1;
  }
  return { depth: most, values };
}

/** Many clients send a content type without a body; routes that need a body check that themselves. */
function takeEmptyBodies(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error');
  app.removeContentTypeParser('application/json');
  app.addContentTypeParser<string>('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body === '') return done(null, undefined);
    const { depth, values } = measure(body);
    const { bodyLimit = app.initialConfig.bodyLimit ?? 0 } = request.routeOptions;
    if (depth > MAX_BODY_DEPTH) return done(new WinnowError('invalid_request', TOO_DEEP));
    if (values > bodyLimit / BYTES_A_VALUE) return done(new WinnowError('invalid_request', TOO_MANY));
    return parse(request, body, done);
  });
}

interface HookParts {
  logger: Logger;
  stop: Stop;
  outcomes: Outcomes;
  metrics: Agents['metrics'] | undefined;
  onError: (error: unknown, request: FastifyRequest, reply: FastifyReply) => FastifyReply;
}

function addRequestHooks(app: FastifyInstance, parts: HookParts): void {
  const { stop, onError } = parts;
  app.addHook('onRequest', async (request, reply) => {
    reply.header(REQUEST_ID_HEADER, request.id);
    const startedAt = performance.now();
    reply.raw.once('close', () => logAnswer(parts, { request, reply, startedAt }));
    if (stop.isStopping) return onError(new WinnowError('overloaded', 'The server is stopping.'), request, reply);
  });
}

/** Only planning, calls and decisions; not requests of probes, browsers and Prometheus. */
const isTraced = (route: string) => route.startsWith('/v1/') || route === MCP_PATH;

/** Begins after the body has arrived: the events of an incoming body would lose the span. */
function addRequestSpans(app: FastifyInstance): void {
  app.addHook('preHandler', (request, { raw }, done) => {
    const { method, headers: carrier } = request;
    const { url: route = '' } = request.routeOptions;
    if (!isTracing() || !isTraced(route)) return done();
    const attributes = { 'http.request.method': method, 'http.route': route };
    void withRequestSpan(`${method} ${route}`, { carrier, attributes }, async (note) => {
      const closed = new Promise((resolve) => raw.once('close', resolve));
      done();
      await closed;
      note.set({ 'http.response.status_code': statusOf(raw) });
    });
  });
}

/** A client that disconnected got no status. */
function statusOf({ writableFinished, statusCode }: ServerResponse): number {
  return writableFinished ? statusCode : ERROR_TABLE.cancelled.httpStatus;
}

interface Exchange {
  request: FastifyRequest;
  reply: FastifyReply;
  startedAt: number;
}

/** Fastify does not call its own hook for a client that disconnected. */
function logAnswer({ logger, outcomes, metrics }: HookParts, { request, reply, startedAt }: Exchange): void {
  const { method, id: requestId } = request;
  const route = request.routeOptions.url;
  const level = route?.endsWith('z') ? 'debug' : 'info';
  const milliseconds = Math.round(performance.now() - startedAt);
  const isWhole = reply.raw.writableFinished;
  const status = statusOf(reply.raw);
  metrics?.observeAnswer({ method, route, status, milliseconds });
  const facts = { requestId, method, route, status, milliseconds, ...outcomes.get(request) };
  logger[level](facts, isWhole ? 'answered' : 'the client left');
}

/** Call it before the routes are added: Fastify can't tell the methods of a path whose route has parameters. */
function createUnknownPath(app: FastifyInstance) {
  const routes: { methods: readonly string[]; path: RegExp }[] = [];
  app.addHook('onRoute', ({ method, url }) => {
    if (url.includes('*')) return;
    const path = new RegExp(`^${url.replaceAll('.', '\\.').replace(/:\w+/gu, '[^/]+')}$`, 'u');
    routes.push({ methods: [method].flat(), path });
  });
  return (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const [url = ''] = request.url.split('?');
    const known = routes.filter(({ path }) => path.test(url)).flatMap(({ methods }) => methods);
    const allowed = app.supportedMethods.filter((method) => known.includes(method));
    if (allowed.length > 0) reply.header('allow', allowed.join(', '));
    return sendProblem(reply, faultProblem(allowed.length > 0 ? 405 : 404, request.id));
  };
}

/** How long an outcome holds, and the time limit of the store, in milliseconds. A load balancer asks every few seconds. */
const STORE_CHECK_MS = 5_000;
const MODEL_CHECK_MS = 60_000;

const STATUS = { name: 'Status', schema: z.object({ status: z.literal('ok') }) };

function addServiceRoutes(app: FastifyInstance, ready: () => Promise<void>, render: () => object): void {
  const about = (operationId: string, summary: string, answer?: Named) => ({
    config: { operation: { operationId, summary, answer, isOpen: true } },
  });
  app.get('/healthz', about('health', 'Whether the process answers', STATUS), async () => ({ status: 'ok' }));
  // A stopping server refuses the request earlier.
  app.get('/readyz', about('readiness', 'Whether the server takes requests', STATUS), async () => {
    await ready();
    return { status: 'ok' };
  });
  // Built on first use: it takes longer than the rest of the server's start.
  let document: object | undefined;
  app.get('/openapi.json', about('openapi', 'This document'), async () => {
    document ??= render();
    return document;
  });
}
