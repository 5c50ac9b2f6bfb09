/** A scripted hub: one step a request, in order; without a step it answers properly, with Range and If-Range. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface HubStep {
  /** Any status but those of success is sent without the file. */
  status?: number;
  /** Sends only so many bytes and then leaves the connection open until `cut` is called, or for ever. */
  sendBytes?: number;
  etag?: string;
  /** Answers a Range as if If-Range had not been there. */
  ignoresIfRange?: boolean;
  ignoresRange?: boolean;
  content?: Buffer;
  contentType?: string;
}

export interface HubRequest {
  range: string | undefined;
  ifRange: string | undefined;
  /** Bytes of the file that were sent for it. */
  sent: number;
}

export interface Hub {
  url: string;
  requests: HubRequest[];
  /** Ends the connections that are open, as a failing network would. */
  cut(): void;
  close(): Promise<void>;
}

export async function startHub(content: Buffer, steps: readonly HubStep[] = []): Promise<Hub> {
  const requests: HubRequest[] = [];
  const open = new Set<ServerResponse>();
  const server = createServer((request, response) => {
    const seen = { range: request.headers.range, ifRange: header(request, 'if-range'), sent: 0 };
    open.add(response);
    requests.push(seen);
    answer(seen, response, { content, ...steps[requests.length - 1] });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/model.gguf`,
    requests,
    cut() {
      for (const response of open) response.socket?.destroy();
      open.clear();
    },
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

function answer(request: HubRequest, response: ServerResponse, step: HubStep & { content: Buffer }): void {
  const { status = 200, etag = '"one"', content } = step;
  if (status >= 300) {
    response.writeHead(status).end();
    return;
  }
  const isSame = step.ignoresIfRange || request.ifRange === undefined || request.ifRange === etag;
  const wanted = step.ignoresRange ? undefined : /^bytes=(\d+)-$/.exec(request.range ?? '')?.[1];
  const start = wanted !== undefined && isSame ? Number(wanted) : 0;
  const range = { 'content-range': `bytes ${start}-${content.length - 1}/${content.length}` };
  response.writeHead(start > 0 ? 206 : 200, {
    etag,
    'content-type': step.contentType ?? 'application/octet-stream',
    'content-length': content.length - start,
    ...(start > 0 ? range : {}),
  });
  const end = step.sendBytes === undefined ? content.length : start + step.sendBytes;
  request.sent = Math.min(end, content.length) - start;
  response.write(content.subarray(start, end));
  if (step.sendBytes === undefined) response.end();
}

function header(request: IncomingMessage, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value[0] : value;
}
