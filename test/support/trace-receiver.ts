/** A receiver of traces over OTLP/HTTP, and servers that answer all alike. */
import { createServer, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach } from 'vitest';

export interface Span {
  name: string;
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  attributes: { key: string; value: Record<string, unknown> }[];
}

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

/** A server that answers all with one answer, and what it was asked. */
export async function listen(body: string, status = 200, headers: Record<string, string> = {}) {
  const asked: { path: string | undefined; headers: IncomingMessage['headers']; body: string }[] = [];
  const server = createServer(async (request, response) => {
    asked.push({ path: request.url, headers: request.headers, body: await text(request) });
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ends.push(() => new Promise((resolve) => server.close(resolve)));
  const address = server.address();
  return { url: `http://127.0.0.1:${Object(address).port}`, asked };
}

export async function startReceiver() {
  const { url, asked } = await listen('{}');
  const resources = () => asked.flatMap(({ body }): ReturnType<typeof JSON.parse>[] => JSON.parse(body).resourceSpans);
  const spans = (): Span[] =>
    resources().flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }: { spans: Span[] }) => spans));
  const named = (name: string) => spans().find((span) => span.name === name);
  /** The process has ended its stream before the receiver has read it. */
  const received = async (name: string) => {
    while (!named(name)) await delay(10);
  };
  return { url, asked, resources, spans, named, received };
}

export function valuesOf(span: Span | undefined): Record<string, unknown> {
  return Object.fromEntries((span?.attributes ?? []).map(({ key, value }) => [key, Object.values(value)[0]]));
}
