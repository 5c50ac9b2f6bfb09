/**
 * Spans for those who trace with OpenTelemetry. Only its API is used: without an SDK that the embedding program set up,
 * nothing is recorded and next to nothing is spent.
 */
import { type Attributes, SpanStatusCode, trace } from '@opentelemetry/api';

/** The stages that have spans; the attributes hold names, counts and codes, never requests or arguments. */
export type SpanName = 'winnow.search' | 'winnow.decide' | 'winnow.call' | 'winnow.select' | 'winnow.plan';

export interface SpanNote {
  /** Facts that are known only when the work is done. */
  set(attributes: Attributes): void;
}

/** The result of the work, with a span around it; an error marks the span and goes on. */
export function withSpan<T>(name: SpanName, attributes: Attributes, work: (note: SpanNote) => Promise<T>): Promise<T> {
  return trace.getTracer('winnow').startActiveSpan(name, { attributes }, async (span) => {
    try {
      return await work({ set: (more) => span.setAttributes(more) });
    } catch (error) {
      span.recordException(error instanceof Error ? error : String(error));
      span.setStatus({ code: SpanStatusCode.ERROR });
      throw error;
    } finally {
      span.end();
    }
  });
}
