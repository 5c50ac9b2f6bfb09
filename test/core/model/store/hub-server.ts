/** A scripted hub: one step a request, in order; without a step it answers properly, with Range. */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface HubStep {
  /** Any status but those of success is sent without the file. */
  status?: number;
  /** Sends only so many bytes and then leaves the connection open until `cut` is called, or for ever. */
  sendBytes?: number;
  ignoresRange?: boolean;
  content?: Buffer;
  /** Does not say how large the file is. */
  hidesSize?: boolean;
}

export interface Hub {
  url: string;
  /** The Range and the Accept-Encoding of each request. */
  requests: { range: string | undefined; encoding: string | undefined }[];
  /** Ends the connections that are open, as a failing network would. */
  cut(): void;
  close(): Promise<void>;
}

export async function startHub(content: Buffer, steps: readonly HubStep[] = []): Promise<Hub> {
  const requests: Hub['requests'] = [];
  const open = new Set<ServerResponse>();
  const server = createServer(({ headers }, response) => {
    open.add(response);
    requests.push({ range: headers.range, encoding: String(headers['accept-encoding']) });
    answer(headers.range, response, { content, ...steps[requests.length - 1] });
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

function answer(range: string | undefined, response: ServerResponse, step: HubStep & { content: Buffer }): void {
  const { status = 200, content, sendBytes, hidesSize } = step;
  if (status >= 300) {
    response.writeHead(status).end();
    return;
  }
  const wanted = step.ignoresRange ? undefined : /^bytes=(\d+)-$/u.exec(range ?? '')?.[1];
  const start = Number(wanted ?? 0);
  response.writeHead(start > 0 ? 206 : 200, {
    ...(hidesSize ? {} : { 'content-length': content.length - start }),
    ...(start > 0 ? { 'content-range': `bytes ${start}-${content.length - 1}/${content.length}` } : {}),
  });
  response.write(content.subarray(start, sendBytes === undefined ? content.length : start + sendBytes));
  if (sendBytes === undefined) response.end();
}
