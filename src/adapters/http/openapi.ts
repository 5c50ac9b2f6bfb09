/**
 * The OpenAPI 3.1 document of the server. Each route declares its operation once, with zod schemas, and @fastify/swagger
 * builds the document from them.
 */
import swagger, { type JSONObject } from '@fastify/swagger';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { readVersion } from '../../core/environment.js';
import { clarificationSchema, planSchema, selectionSchema, stepSchema, unplannableSchema } from '../../core/result.js';
import { GATEWAY_HEADER, ROLES_HEADER, USER_HEADER } from './auth/authenticate.js';
import { PROBLEM_TYPE, problemSchema, REQUEST_ID_HEADER } from './problem.js';

/** A schema with its name in the document. */
export interface Named<Schema extends z.ZodType = z.ZodType> {
  readonly name: string;
  readonly schema: Schema;
}

/** The description of a route in the document. */
export interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly query?: z.ZodType;
  readonly body?: Named;
  /** Default: any JSON object. */
  readonly answer?: Named | undefined;
  /** Media type of the answer; `none` if it is empty. Default: `application/json`. */
  readonly answerType?: string;
  /** Default: 200. */
  readonly status?: number;
  /** Further statuses of the same answer -> meaning; 202 has no body. */
  readonly otherStatuses?: Readonly<Record<number, string>>;
  /** Headers of the request besides the common ones -> meaning. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The answer may be streamed: name and data of an event. */
  readonly streams?: { readonly event: string; readonly data: Named };
  /** Form of a failure besides a problem document. */
  readonly failure?: Named;
  /** Whether roles of the caller count. Default: true. */
  readonly takesRoles?: boolean;
  /** It concerns the server itself and needs no caller. Default: false. */
  readonly isOpen?: boolean;
  /** It concerns all users: callers who are no operators get `not_found`. Default: false. */
  readonly isForOperators?: boolean;
  /** It decides for others: the unproven word of a local program is not enough. Default: false. */
  readonly needsProof?: boolean;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    operation?: Operation;
  }
}

const PROBLEM = { name: 'Problem', schema: problemSchema };
/** Named parts of answers. */
const PARTS: readonly Named[] = [
  { name: 'Plan', schema: planSchema },
  { name: 'Clarification', schema: clarificationSchema },
  { name: 'Unplannable', schema: unplannableSchema },
  { name: 'Selection', schema: selectionSchema },
  { name: 'Step', schema: stepSchema },
  PROBLEM,
];
const USER_TEXT =
  'The caller, as a gateway or the operator names it; overrides the user of query or body. Refused beside any other token.';
const ROLES_TEXT = `Roles of the caller, separated by commas; counts beside ${USER_HEADER} only.`;

/** Call it before the routes are added. @returns a function that builds their document */
export function addOpenApi(app: FastifyInstance): () => object {
  const operations: Operation[] = [];
  app.register(swagger, {
    convertConstToEnum: false,
    openapi: {
      openapi: '3.1.1',
      info: {
        title: 'Winnow',
        version: readVersion(),
        license: { name: 'MIT', identifier: 'MIT' },
        description:
          'From a request and a catalogue of tools to a checked plan. Every error is a problem document (RFC 9457).',
      },
      servers: [{ url: '/', description: 'This server' }],
      security: [{ token: [] }, { gateway: [] }, {}],
      components: { securitySchemes: SECURITY },
    },
    transform({ route, url }) {
      const { operation } = route.config ?? {};
      if (!operation) return { schema: { hide: true }, url };
      operations.push(operation);
      return { schema: toSchema(operation, String(route.method)), url };
    },
  });
  return () => {
    const document = Object(app.swagger());
    const schemas = renderSchemas(operations);
    const bodies = Object.values<object>(document.paths).flatMap((path) =>
      Object.values(path).flatMap((operation) => Object(operation).requestBody ?? []),
    );
    for (const body of bodies) body.required = !acceptsNothing(body.content['application/json'].schema, schemas);
    return { ...document, components: { ...document.components, schemas } };
  };
}

/** A server for this machine alone needs none, except for decisions for others. */
const SECURITY = {
  token: {
    type: 'http',
    scheme: 'bearer',
    description: 'A token of the operator, of a user, or a JSON Web Token of the issuer that the server trusts.',
  },
  gateway: { type: 'apiKey', in: 'header', name: GATEWAY_HEADER, description: 'The secret of a gateway.' },
} as const;

function toSchema(operation: Operation, method: string) {
  const { operationId, summary, answer, streams, query, body, failure, status = 200 } = operation;
  const { answerType = 'application/json', otherStatuses = {}, isOpen = false, takesRoles = true } = operation;
  const description = [operation.description, streams && streamText(streams, answer)].filter(Boolean).join(' ');
  const text = { schema: { type: 'string' } };
  const content = {
    [answerType]:
      answerType === 'application/json' ? { schema: answer ? reference(answer) : { type: 'object' } } : text,
    ...(streams ? { 'text/event-stream': text } : {}),
  };
  const answered = (description: string, isEmpty: boolean) =>
    isEmpty ? { description, type: 'null' } : { description, content };
  const headers = {
    ...operation.headers,
    [REQUEST_ID_HEADER]: 'Your id of the request, for the logs; the answer repeats it.',
    ...(isOpen ? {} : { [USER_HEADER]: USER_TEXT }),
    ...(isOpen || !takesRoles ? {} : { [ROLES_HEADER]: ROLES_TEXT }),
  };
  const isWriting = method === 'POST' || method === 'PUT';
  return {
    operationId,
    summary,
    ...(description === '' ? {} : { description }),
    headers: {
      type: 'object',
      properties: mapValues(headers, (meaning) => ({ type: 'string', description: meaning })),
    },
    ...(query ? { querystring: z.toJSONSchema(query, { io: 'input', unrepresentable: 'any' }) } : {}),
    // Also for an empty body: only then do clients send the content type that the server demands.
    ...(isWriting ? { body: body ? reference(body) : { type: 'object' } } : {}),
    response: {
      [status]: answered('The answer', answerType === 'none'),
      ...Object.fromEntries(
        Object.entries(otherStatuses).map(([other, meaning]) => [other, answered(meaning, other === '202')]),
      ),
      default: {
        description: 'A failure. The schema of a problem lists its codes and their statuses.',
        content: {
          [PROBLEM_TYPE]: { schema: reference(PROBLEM) },
          ...(failure ? { 'application/json': { schema: reference(failure) } } : {}),
        },
      },
    },
  };
}

function streamText({ event, data }: NonNullable<Operation['streams']>, answer: Named | undefined): string {
  return (
    `With \`accept: text/event-stream\` the answer is a stream: \`event: ${event}\` with a ${data.name} each time, at the end ` +
    `\`event: result\` with a ${answer?.name} or \`event: error\` with a Problem. A refusal before the first event has its ` +
    'own HTTP status.'
  );
}

function reference({ name }: Named): { $ref: string } {
  return { $ref: `#/components/schemas/${name}` };
}

function renderSchemas(operations: readonly Operation[]): Record<string, JSONObject> {
  const inputs = operations.flatMap(({ body }) => body ?? []);
  const outputs = operations.flatMap(({ answer, streams, failure }) => [answer, streams?.data, failure]);
  return { ...convert(inputs, 'input'), ...convert([...outputs, ...PARTS], 'output') };
}

function convert(named: readonly (Named | undefined)[], io: 'input' | 'output'): Record<string, JSONObject> {
  const registry = z.registry<{ id: string }>();
  const all = named.flatMap((one) => (one ? [one] : []));
  for (const one of [...all, ...all.flatMap(formsOf)])
    if (!registry.has(one.schema)) registry.add(one.schema, { id: one.name });
  const { schemas } = z.toJSONSchema(registry, {
    io,
    unrepresentable: 'any',
    uri: (id) => `#/components/schemas/${id}`,
  });
  return mapValues(schemas, ({ $schema: _dialect, $id: _id, id: _name, ...schema }) => schema as JSONObject);
}

/** Client generators lose union members without a name. */
function formsOf({ name, schema }: Named): Named[] {
  if (!(schema instanceof z.ZodUnion)) return [];
  return schema.options.flatMap((form, place) =>
    form instanceof z.ZodObject ? [{ name: `${name}Form${place + 1}`, schema: form }] : [],
  );
}

/** Many clients send no body if all its fields are optional. */
function acceptsNothing({ $ref, ...own }: JSONObject, schemas: Readonly<Record<string, JSONObject>>): boolean {
  const schema = typeof $ref === 'string' ? schemas[$ref.split('/').at(-1) ?? ''] : own;
  return schema?.type === 'object' && schema.required === undefined;
}

function mapValues<Value, Mapped>(values: Readonly<Record<string, Value>>, map: (value: Value) => Mapped) {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, map(value)]));
}
