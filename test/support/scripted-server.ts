/**
 * An OpenAI-compatible server on a free port that does, request by request, what the test says, and records what it
 * was sent. A request without a script is answered 500 and makes `assertDone` throw.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { fail } from './server-behaviours.js';

export interface RecordedRequest {
  path: string;
  headers: IncomingMessage['headers'];
  /** The parsed JSON body. */
  body: Record<string, unknown>;
}

export type Behaviour = (request: RecordedRequest, response: ServerResponse) => void;
export type ServerScript = readonly Behaviour[] | ((request: RecordedRequest, index: number) => Behaviour);

export interface ScriptedServer {
  /** Ends in `/v1`. */
  readonly baseUrl: string;
  readonly requests: readonly RecordedRequest[];
  /** Resolves when so many requests have come in. */
  received(count: number): Promise<void>;
  /** Throws when not every behaviour of the list was used, or more were needed. */
  assertDone(): void;
  close(): Promise<void>;
}

export async function startScriptedServer(script: ServerScript): Promise<ScriptedServer> {
  const requests: RecordedRequest[] = [];
  const waiting = new Set<() => void>();
  const server = createServer(async (incoming, response) => {
    const request = await readRequest(incoming);
    const index = requests.push(request) - 1;
    for (const check of waiting) check();
    const behaviour = typeof script === 'function' ? script(request, index) : script[index];
    (behaviour ?? fail(500, 'the scripted server was asked too often'))(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The scripted server has no port.');
  return {
    baseUrl: `http://127.0.0.1:${address.port}/v1`,
    requests,
    received: (count) =>
      new Promise((resolve) => {
        const check = () => {
          if (requests.length < count) return;
          waiting.delete(check);
          resolve();
        };
        waiting.add(check);
        check();
      }),
    assertDone() {
      if (typeof script === 'function' || script.length === requests.length) return;
      throw new Error(`${script.length} behaviours were scripted, ${requests.length} requests came.`);
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function readRequest(incoming: IncomingMessage): Promise<RecordedRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(Buffer.from(chunk));
  const text = Buffer.concat(chunks).toString('utf8');
  return { path: incoming.url ?? '', headers: incoming.headers, body: text === '' ? {} : JSON.parse(text) };
}
