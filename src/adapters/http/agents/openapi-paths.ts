/** The endpoints for agents as paths of the OpenAPI document, from the same routes that the server answers by. */
import { z } from 'zod';
import { type Json, parameters, problemReferences, rolesReference, success } from '../openapi-parts.js';
import { renderQuery, schemaReference } from '../openapi-schemas.js';
import type { Named, Route } from './route.js';

/** Path -> its operations; none where the server has no such routes. */
export function agentPaths(routes: readonly Route[]): Json {
  const paths = new Map<string, Json>();
  for (const route of routes) {
    const path = route.path.replace(':id', '{id}');
    paths.set(path, { ...paths.get(path), [route.method.toLowerCase()]: toOperation(route) });
  }
  return routes.length === 0 ? {} : { ...Object.fromEntries(paths), '/metrics': { get: metricsOperation() } };
}

function toOperation({ method, operationId, summary, path, body, query, answer, status = 200, ...route }: Route): Json {
  const id = { name: 'id', in: 'path', required: true, schema: { type: 'string' } };
  const description = [route.description, route.streams && streamText(route, answer.name)].filter(Boolean).join(' ');
  const content = { 'application/json': { schema: schemaReference(answer) } };
  const streamed = { 'text/event-stream': { schema: { type: 'string' } } };
  return {
    operationId,
    summary,
    ...(description === '' ? {} : { description }),
    parameters: [
      ...(path.includes(':id') ? [id] : []),
      ...(query ? renderQuery(query).map((one) => ({ ...one, in: 'query' })) : []),
      ...parameters(),
      rolesReference(),
    ],
    ...requestBody(method, body),
    responses: {
      [status]: success('The answer', route.streams ? { ...content, ...streamed } : content),
      ...(route.refusedStatus ? { [route.refusedStatus]: success('A refusal', content) } : {}),
      ...problemReferences(isWriting(method) ? [...AGENT_STATUSES, 413, 415] : AGENT_STATUSES),
    },
  };
}

/** Also where nothing is to be said: then a client sends the type of a body, which the server asks for. */
function requestBody(method: Route['method'], body: Named | undefined): Json {
  if (!isWriting(method)) return {};
  // Who sends none sends an empty one, see `route.ts`.
  const isOptional = !body || (body.schema instanceof z.ZodObject && body.schema.safeParse({}).success);
  const schema = body ? schemaReference(body) : { type: 'object' };
  return { requestBody: { required: !isOptional, content: { 'application/json': { schema } } } };
}

function isWriting(method: Route['method']): boolean {
  return method === 'POST' || method === 'PUT';
}

const AGENT_STATUSES = [400, 401, 403, 404, 409, 429, 499, 500, 503];

function streamText({ streams }: Pick<Route, 'streams'>, answer: string): string {
  return (
    `With \`accept: text/event-stream\` it is streamed: \`event: ${streams?.event}\` with a ${streams?.data.name} for each ` +
    `change, at the end \`event: result\` with a ${answer} or \`event: error\` with a Problem.`
  );
}

function metricsOperation(): Json {
  return {
    operationId: 'metrics',
    summary: 'Figures for Prometheus, as they happen in this process',
    responses: { 200: success('In the text format', { 'text/plain': { schema: { type: 'string' } } }) },
  };
}
