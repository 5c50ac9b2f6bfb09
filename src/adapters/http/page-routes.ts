/** Files of a web page that uses this server. They hold no data, so they need no caller. */
import { createHash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';

export interface PageFile {
  /** `/` is the page itself. */
  readonly path: string;
  /** Its `content-type`. */
  readonly type: string;
  readonly text: string;
  /**
   * In its place for who comes from a page of another place, which could else have a click of its own fall on a button. It has no
   * script, and a link to the page. Default: the page opens at once.
   */
  readonly doorstep?: string;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** A link on another site may open it. */
    isPage?: boolean;
  }
}

/** Only files and answers of this server, no inline scripts or styles, and no framing. */
const POLICY = [
  "default-src 'none'",
  ...["script-src 'self'", "style-src 'self'", "connect-src 'self'", "img-src 'self' data:"],
  ...["base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"],
].join('; ');

/** `no-cache`: a browser revalidates each time, and gets 304 for an unchanged file. */
export const PAGE_HEADERS = {
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  // Whoever opened it in a window can't lead it on to a place within it.
  'cross-origin-opener-policy': 'same-origin',
  'cache-control': 'no-cache',
} as const;

export function addPageRoutes(app: FastifyInstance, files: readonly PageFile[]): void {
  for (const { path, type, text, doorstep } of files) {
    const body = Buffer.from(text);
    const etag = `"${createHash('sha256').update(body).digest('base64url')}"`;
    app.get(path, { config: { isPage: path === '/' } }, async (request, reply) => {
      if (doorstep !== undefined && /^(?:cross|same)-site$/u.test(String(request.headers['sec-fetch-site'])))
        return reply
          .headers({ ...PAGE_HEADERS, 'cache-control': 'no-store' })
          .type(type)
          .send(doorstep);
      reply.headers({ ...PAGE_HEADERS, etag, ...(doorstep === undefined ? {} : { vary: 'sec-fetch-site' }) });
      return request.headers['if-none-match'] === etag ? reply.code(304).send() : reply.type(type).send(body);
    });
  }
}
