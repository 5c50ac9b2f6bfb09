/**
 * Spans for those who trace with OpenTelemetry, named by its conventions for HTTP, GenAI and MCP where one fits. Only its API is
 * used: without an SDK that somebody set up, nothing is recorded and next to nothing is spent.
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

/** The stages that have spans; the attributes hold names, counts and codes, never requests or arguments. */
export type SpanName =
  | `winnow.${'search' | 'decide' | 'select' | 'plan'}`
  | `${'chat' | 'text_completion' | 'execute_tool'} ${string}`;

export interface SpanNote {
  /** Facts that are known only when the work is done. */
  set(attributes: Attributes): void;
}

/** Whether somebody has set up an SDK, here or before by `--import`. */
export function isTracing(): boolean {
  const provider = trace.getTracerProvider();
  return !(provider instanceof ProxyTracerProvider) || provider.getDelegateTracer('winnow') !== undefined;
}

type Work<T> = (note: SpanNote) => Promise<T>;

/** The result of the work, with a span around it; an error marks the span and goes on. */
export function withSpan<T>(name: SpanName, attributes: Attributes, work: Work<T>): Promise<T> {
  const kind = /^(?:chat|text_completion) /u.test(name) ? SpanKind.CLIENT : SpanKind.INTERNAL;
  return inSpan(name, { kind, attributes }, work);
}

/** Of W3C. Baggage is left out: what a caller adds is for no model server and no tool. */
const FIELDS = ['traceparent', 'tracestate'] as const;

/**
 * The same for a request that comes in: below the span that it names.
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

/** For a request that goes out: names the span in which it is made. Empty where nothing is traced. */
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
