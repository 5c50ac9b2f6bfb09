/** What is traced, without an SDK: a tracer by hand, as the embedding program would set one up. */
import { type Attributes, type Span, type SpanStatusCode, type Tracer, trace } from '@opentelemetry/api';

interface Recorded {
  name: string;
  attributes: Attributes;
  exceptions: unknown[];
  status?: SpanStatusCode;
  ended: number;
}

/** Until `trace.disable()`. */
export function recordSpans(): Recorded[] {
  const spans: Recorded[] = [];
  const startActiveSpan = (name: string, options: { attributes: Attributes }, work: (span: Span) => unknown) => {
    const recorded: Recorded = { name, attributes: { ...options.attributes }, exceptions: [], ended: 0 };
    spans.push(recorded);
    const span: Partial<Span> = {
      setAttributes: (more) => Object.assign(recorded.attributes, more) && Object(span),
      recordException: (error) => void recorded.exceptions.push(error),
      setStatus: ({ code }) => Object.assign(recorded, { status: code }) && Object(span),
      end() {
        recorded.ended += 1;
      },
    };
    return work(Object(span));
  };
  const tracer: Partial<Tracer> = { startActiveSpan: Object(startActiveSpan) };
  trace.setGlobalTracerProvider({ getTracer: () => Object(tracer) });
  return spans;
}
