/**
 * OpenTelemetry spans, named by its conventions for HTTP, GenAI and MCP where one fits. Winnow uses only the API: without an
 * SDK that the operator sets up, nothing is recorded and the cost is next to nothing.
 */
import {
  type Attributes,
  context,
  ProxyTracerProvider,
  propagation,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { WinnowError } from './errors.js';

/** Names of spans. Their attributes hold names, counts and codes, never requests or arguments. */
export type SpanName =
  | `winnow.${'search' | 'decide' | 'select' | 'plan'}`
  | `${'chat' | 'text_completion' | 'execute_tool'} ${string}`;

export interface SpanNote {
  /** Sets attributes that are known only when the work is done. */
  set(attributes: Attributes): void;
}

/** Whether the program has set up an SDK, here or before by `--import`. */
export function isTracing(): boolean {
  const provider = trace.getTracerProvider();
  return !(provider instanceof ProxyTracerProvider) || provider.getDelegateTracer('winnow') !== undefined;
}

type Work<T> = (note: SpanNote) => Promise<T>;

/** Runs the work inside a span; an error marks the span and is thrown again. */
export function withSpan<T>(name: SpanName, attributes: Attributes, work: Work<T>): Promise<T> {
  const kind = /^(?:chat|text_completion) /u.test(name) ? SpanKind.CLIENT : SpanKind.INTERNAL;
  return inSpan(name, { kind, attributes }, work);
}

/** Fields of W3C Trace Context, without its baggage: what a caller adds there is for no model server and no tool. */
const FIELDS = ['traceparent', 'tracestate'] as const;

/**
 * Runs the work of an incoming request inside a span, as a child of the span that its carrier names.
 * @param carrier its headers, or `_meta` in MCP
 */
export function withRequestSpan<T>(
  name: string,
  { carrier, attributes }: { carrier: object | undefined; attributes: Attributes },
  work: Work<T>,
): Promise<T> {
  const parent = propagation.extract(context.active(), fieldsOf(carrier));
  return context.with(parent, () => inSpan(name, { kind: SpanKind.SERVER, attributes }, work));
}

/** Headers of an outgoing request that name the current span; empty without tracing. */
export function traceHeaders(): Record<string, string> {
  const carrier = {};
  propagation.inject(context.active(), carrier);
  return fieldsOf(carrier);
}

function fieldsOf(carrier: object | undefined): Record<string, string> {
  const values = FIELDS.map((field) => [field, Object(carrier)[field]] as const);
  return Object.fromEntries(values.filter(([, value]) => typeof value === 'string'));
}

function inSpan<T>(name: string, options: { kind: SpanKind; attributes: Attributes }, work: Work<T>): Promise<T> {
  return trace.getTracer('winnow').startActiveSpan(name, options, async (span) => {
    try {
      return await work({ set: (more) => span.setAttributes(more) });
    } catch (error) {
      const thrown = error instanceof Error ? error : new Error(String(error));
      span.recordException(thrown);
      span.setAttributes({ 'error.type': error instanceof WinnowError ? error.code : thrown.name });
      span.setStatus({ code: SpanStatusCode.ERROR });
      throw error;
    } finally {
      span.end();
    }
  });
}
