/** The facts of an operation's HTTP call; as `catalog/sources/openapi.ts` writes them. */
import { z } from 'zod';
import type { Tool } from '../../../../core/catalog/tool.js';

const argumentTargetSchema = z.object({
  in: z.enum(['path', 'query', 'header', 'cookie', 'body']),
  name: z.string().optional(),
  style: z.string().optional(),
  explode: z.boolean().optional(),
  allowReserved: z.boolean().optional(),
  contentType: z.string().optional(),
});
export type ArgumentTarget = z.infer<typeof argumentTargetSchema>;

const credentialSchema = z.object({
  scheme: z.string(),
  in: z.enum(['header', 'query', 'cookie']),
  name: z.string(),
  form: z.enum(['bearer', 'basic']).optional(),
});
export type Credential = z.infer<typeof credentialSchema>;

const httpTargetSchema = z.object({
  method: z.enum(['GET', 'PUT', 'POST', 'DELETE', 'OPTIONS', 'HEAD', 'PATCH']),
  path: z.string().startsWith('/'),
  server: z.string().optional(),
  parameters: z.record(z.string(), argumentTargetSchema),
  contentType: z.string().optional(),
  security: z.array(z.array(credentialSchema)).optional(),
});
export type HttpTarget = z.infer<typeof httpTargetSchema>;

/** Undefined for what is no operation, and for TRACE, which only repeats what it was sent. */
export function readHttpTarget(tool: Tool): HttpTarget | undefined {
  return httpTargetSchema.safeParse(tool.metadata.http).data;
}
