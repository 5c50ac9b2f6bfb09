/** Files of a web page that asks this server. They hold no data, so nobody has to say who asks for them. */
import { createHash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';

export interface PageFile {
  /** `/` is the page itself. */
  readonly path: string;
  /** Its `content-type`. */
  readonly type: string;
  readonly text: string;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** A link on a page elsewhere may open it. */
    isPage?: boolean;
  }
}

/** Only files and answers of this server, no script or style within the page, and no other page around it. */
const POLICY = [
  "default-src 'none'",
  ...["script-src 'self'", "style-src 'self'", "connect-src 'self'", "img-src 'self' data:"],
  ...["base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"],
].join('; ');

/** `no-cache`: a browser asks each time, and gets 304 where the file is as it was. */
const HEADERS = {
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-cache',
} as const;

export function addPageRoutes(app: FastifyInstance, files: readonly PageFile[]): void {
  for (const { path, type, text } of files) {
    const body = Buffer.from(text);
    const etag = `"${createHash('sha256').update(body).digest('base64url')}"`;
    app.get(path, { config: { isPage: path === '/' } }, async (request, reply) => {
      reply.headers({ ...HEADERS, etag });
      return request.headers['if-none-match'] === etag ? reply.code(304).send() : reply.type(type).send(body);
    });
  }
}
