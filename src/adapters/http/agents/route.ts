/** One endpoint for agents as data. It defines both the server's route and its part of the OpenAPI document. */
import { z } from 'zod';
import type { Caller } from '../../../agents/contracts.js';
import { parseInput } from '../../../core/parse.js';
import type { Identity } from '../auth/authenticate.js';
import type { Named, Operation } from '../openapi.js';

interface Description extends Omit<Operation, 'body' | 'query'> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** A path has at most one parameter, `:id`. */
  readonly path: string;
  readonly answer: Named;
  readonly status?: 200 | 201;
  /** Status of an answer with `ok: false`. Default: that of any answer. */
  readonly refusedStatus?: 200;
  /** It may wait for a model, so it takes a place of `server.concurrency`, like streamed work. Default: false. */
  readonly takesPlace?: boolean;
  /** Longest body, in bytes. Default: the server's limit. */
  readonly bodyLimitBytes?: number;
}

/** A request before parsing. */
export interface RawRequest {
  /** From the path; empty if the path has none. */
  readonly id: string;
  readonly body: unknown;
  readonly query: unknown;
  readonly identity: Identity;
  /** Fires when the client disconnects, and at the time limit of a stopping server. */
  readonly signal: AbortSignal;
  /** Receives the events of streamed work. */
  readonly onEvent: (event: unknown) => void;
  readonly setHeader: (name: string, value: string) => void;
}

interface Asked<Body, Query> extends Pick<RawRequest, 'id' | 'signal' | 'onEvent' | 'setHeader'> {
  readonly body: Body;
  readonly query: Query;
  /** Undefined: the operator's own program asks. */
  readonly caller: Caller | undefined;
}

interface Spec<Body extends z.ZodType, Query extends z.ZodType> extends Description {
  readonly body?: Named<Body>;
  readonly query?: Query;
  /** Adds the caller to the body before it is parsed. */
  readonly withCaller?: (body: unknown, caller: Caller | undefined) => unknown;
  readonly handle: (asked: Asked<z.output<Body>, z.output<Query>>) => unknown;
}

export interface Route extends Description {
  readonly body?: Named;
  readonly query?: z.ZodType;
  /** @throws WinnowError `invalid_request`, or what the work throws */
  respond(raw: RawRequest): Promise<unknown>;
}

export function route<Body extends z.ZodType, Query extends z.ZodType>({
  handle,
  withCaller = (body) => body,
  ...spec
}: Spec<Body, Query>): Route {
  const numbers = numbersOf(spec.query);
  return {
    ...spec,
    async respond({ body, query, identity: { caller }, ...raw }) {
      return handle({
        ...raw,
        caller,
        // Many clients send no body if all its fields are optional.
        body: parsed(spec.body?.schema, withCaller(body ?? {}, caller)),
        query: parsed(spec.query, withNumbers(query, numbers)),
      });
    },
  };
}

function parsed<Schema extends z.ZodType>(schema: Schema | undefined, input: unknown): z.output<Schema> {
  // A route without a schema ignores its input.
  return schema ? parseInput(schema, input) : (undefined as z.output<Schema>);
}

/** Numeric fields of a query schema; their values arrive as text. */
function numbersOf(schema: z.ZodType | undefined): ReadonlySet<string> {
  const { properties = {} } = schema ? z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) : {};
  const isNumber = (field: unknown) => ['integer', 'number'].includes(Object(field).type);
  return new Set(Object.keys(properties).filter((name) => isNumber(properties[name])));
}

function withNumbers(query: unknown, numbers: ReadonlySet<string>): unknown {
  return Object.fromEntries(
    Object.entries(Object(query)).map(([name, value]) => [
      name,
      numbers.has(name) && typeof value === 'string' && /^\d+(?:\.\d+)?$/u.test(value) ? Number(value) : value,
    ]),
  );
}
