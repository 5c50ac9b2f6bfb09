/** Adds the endpoints for agents to the server. Each route parses and answers its requests. */
import type { FastifyInstance } from 'fastify';
import type { Agents } from '../../../agents/agents.js';
import { accountOf } from '../../../agents/contracts.js';
import { WinnowError } from '../../../core/errors.js';
import { createTurnQueue, type TakeTurn } from '../../../core/in-slices.js';
import { type AnswerWork, disconnectSignalOf } from '../answer-work.js';
import type { Gate } from '../gate.js';
import type { Stop } from '../graceful-stop.js';
import { adaptationRoutes } from './adaptation-routes.js';
import { approvalRoutes } from './approval-routes.js';
import { connectionRoutes } from './connection-routes.js';
import { KEY_HEADERS, type Once } from './idempotency.js';
import { keptPlanRoutes } from './kept-plan-routes.js';
import { definitionRoutes, indexRoutes, operatorRoutes, ruleRoutes } from './operator-routes.js';
import { privateToolRoutes } from './private-tool-routes.js';
import type { RawRequest, Route } from './route.js';
import { runRoutes } from './run-routes.js';
import { sessionRoutes } from './session-routes.js';

interface AgentRouteParts extends Pick<Agents, 'metrics'> {
  routes: readonly Route[];
  answerWork: AnswerWork;
  gate: Gate;
  stop: Stop;
  once: Once;
}

/** @param origin address of this server, once it listens */
export function agentRoutes(agents: Agents, origin: () => string): Route[] {
  return [
    ...sessionRoutes(agents.router),
    ...runRoutes(agents.plans),
    ...approvalRoutes(agents),
    ...operatorRoutes(agents),
    ...indexRoutes(agents),
    ...adaptationRoutes(agents),
    ...privateToolRoutes(agents),
    ...keptPlanRoutes(agents),
    ...ruleRoutes(agents),
    ...(agents.definitions ? definitionRoutes(agents.definitions) : []),
    ...(agents.connections ? connectionRoutes(agents.connections, origin) : []),
  ];
}

export function addAgentRoutes(app: FastifyInstance, { routes, metrics, ...parts }: AgentRouteParts): void {
  const takeTurn = createTurnQueue();
  for (const route of routes) addRoute(app, route, { ...parts, takeTurn });
  const operation = {
    operationId: 'metrics',
    summary: 'Metrics of this process for Prometheus',
    answerType: 'text/plain',
  };
  app.get('/metrics', { config: { operation } }, async (_request, reply) => {
    if (!metrics)
      throw new WinnowError('not_found', 'Figures for Prometheus need a package. Install it: npm install prom-client');
    return reply.type(metrics.contentType).send(await metrics.render());
  });
}

interface RouteParts extends Omit<AgentRouteParts, 'metrics' | 'routes'> {
  takeTurn: TakeTurn;
}

function addRoute(app: FastifyInstance, route: Route, { answerWork, gate, stop, once, takeTurn }: RouteParts) {
  app.route<{ Params: { id?: string } }>({
    method: route.method,
    url: route.path,
    config: {
      operation: {
        ...route,
        ...(route.method === 'POST' ? { headers: KEY_HEADERS } : {}),
        ...(route.refusedStatus ? { otherStatuses: { [route.refusedStatus]: 'A refusal' } } : {}),
      },
    },
    ...(route.bodyLimitBytes === undefined ? {} : { bodyLimit: route.bodyLimitBytes }),
    async handler(request, reply) {
      const { body, query, identity } = request;
      const setHeader = (name: string, value: string) => void reply.header(name, value);
      const raw = { id: request.params.id ?? '', body, query, identity, setHeader };
      reply.code(route.status ?? 200);
      const user = accountOf(identity.caller);
      const respond = async (call: Pick<RawRequest, 'signal' | 'onEvent'>) => {
        // What changes something checks arguments or a plan first.
        if (route.method === 'POST' || route.method === 'PUT') await takeTurn(user);
        return once(request, reply, { signal: call.signal, hasEffect: true }, (signal) =>
          route.respond({ ...raw, ...call, signal }),
        );
      };
      if (route.streams)
        return answerWork(request, reply, {
          event: route.streams.event,
          run: respond,
        });
      const signal = AbortSignal.any([disconnectSignalOf(reply), stop.signal]);
      const work = () => respond({ signal, onEvent: () => {} });
      const answer = await (route.takesPlace ? gate.run(user, work) : work());
      if (route.refusedStatus && Object(answer).ok === false) reply.code(route.refusedStatus);
      return answer;
    },
  });
}
