/**
 * Operations of OpenAPI documents, in order: URL, request, credentials, address check, answer. A request goes to the
 * document's host only; arguments can't change that.
 */
import { z } from 'zod';
import { baseUrlsSchema } from '../../../../core/catalog/load.js';
import type { Tool } from '../../../../core/catalog/tool.js';
import { isNeverConnected } from '../../../../core/errors.js';
import { parseOptions } from '../../../../core/parse.js';
import { traceHeaders } from '../../../../core/spans.js';
import { type CallFailure, describeThrown, fail } from '../../failure.js';
import { REMOTE_TIMEOUT_MS } from '../../limits.js';
import { type Executed, type Executor, type ExecutorCall, runnerOf } from '../executor.js';
import { type AddressGuard, createAddressGuard, type Pinned, type ResolveName } from './address-guard.js';
import { buildRequest, type HttpTarget, readHttpTarget } from './build-request.js';
import { chooseWay, findUnset, readCredentials, type UnsetSecret } from './credentials.js';
import { follow, type HttpAnswer } from './follow.js';

const originSchema = z.string().refine((text) => isOrigin(text), 'write an origin such as https://api.example.com');

export const httpExecutorOptionsSchema = z.strictObject({
  hosts: z
    .array(originSchema)
    .default([])
    .describe('Other origins than those of the documents, to which read calls may be redirected.'),
  privateAddresses: z
    .array(z.string())
    .default([])
    .describe('Networks such as 10.1.0.0/16 to which tools may connect although they are not public.'),
  secrets: z
    .record(originSchema, z.record(z.string(), z.string().min(1)))
    .default({})
    .describe('Origin -> security scheme -> NAME of the environment variable with the secret.'),
});
export type HttpExecutorOptions = z.input<typeof httpExecutorOptionsSchema>;

/** Of a configuration file. Its `servers` are for the catalogue: a tool alone says where its calls go. */
export const httpSettingsSchema = httpExecutorOptionsSchema.extend({ servers: baseUrlsSchema });

interface HttpExecutor extends Executor {
  /** Secrets missing in the environment, to report them before the first call. */
  unsetSecrets(): UnsetSecret[];
}

export interface HttpExecutorParts {
  /** Replaces the system's resolver. */
  resolve?: ResolveName;
}

/**
 * Sends the requests of tools that come from an OpenAPI document.
 * @throws WinnowError `invalid_option` naming each option that is wrong
 * @example
 * const http = createHttpExecutor({ secrets: { 'https://api.example.com': { apiKey: 'MY_API_KEY' } } });
 */
export function createHttpExecutor(input: HttpExecutorOptions = {}, parts: HttpExecutorParts = {}): HttpExecutor {
  const options = parseOptions(httpExecutorOptionsSchema, input, 'http');
  const guard = createAddressGuard({ allowed: options.privateAddresses, ...parts });
  const allowedOrigins = new Set(options.hosts.map(originOf));
  const secrets = new Map(Object.entries(options.secrets).map(([origin, names]) => [originOf(origin), names]));

  const targetOf = (tool: Tool) => (runnerOf(tool) === 'http' ? readHttpTarget(tool) : undefined);
  const secretsOf = ({ origin }: URL) => secrets.get(origin) ?? {};

  async function obstaclesOf(tool: Tool, pin: AddressGuard['pin']): Promise<CallFailure[]> {
    const target = targetOf(tool);
    if (!target) return [];
    const server = readServer(tool, target);
    if (!(server instanceof URL)) return [server];
    const checks = [chooseWay(target, secretsOf(server), server.origin), await pin(server.hostname)];
    return checks.flatMap((one) => (one.ok ? [] : [one]));
  }

  return {
    defaultTimeoutMs: () => REMOTE_TIMEOUT_MS,
    canRun: (tool) => targetOf(tool) !== undefined,
    unsetSecrets: () => [...secrets].flatMap(([origin, names]) => findUnset(origin, names)),

    async findObstacles(tools) {
      const hosts = new Map<string, Promise<Pinned>>();
      const pin: AddressGuard['pin'] = (host) => {
        const pinned = hosts.get(host) ?? guard.pin(host);
        hosts.set(host, pinned);
        return pinned;
      };
      const found = new Map<string, string[]>();
      for (const tool of tools)
        for (const { reason } of await obstaclesOf(tool, pin))
          found.set(reason, [...(found.get(reason) ?? []), tool.name]);
      return found;
    },

    async run({ tool, arguments: given, signal, maxReadBytes: maxBytes, repeatable, findRefusal }): Promise<Executed> {
      const target = readHttpTarget(tool);
      if (!target) return fail('not_runnable', `${tool.name} is no operation of an OpenAPI document.`);
      const server = readServer(tool, target);
      if (!(server instanceof URL)) return server;
      const built = await buildRequest(target, server, given);
      if (!built.ok) {
        const reason = `The arguments of ${tool.name} make no request: ${built.issues.join('; ')}.`;
        return fail('invalid_arguments', reason, { issues: built.issues });
      }
      const credentials = readCredentials(target, secretsOf(server), server.origin);
      if (!credentials.ok) return credentials;
      const request = {
        ...built.request,
        // Like header arguments, they go to the document's host only.
        headers: { accept: 'application/json, */*;q=0.5', ...traceHeaders(), ...built.request.headers },
      };
      const { apply: withCredentials, mask } = credentials;
      try {
        const options = { guard, allowedOrigins, withCredentials, maxBytes, signal, findRefusal };
        const followed = await follow(request, options);
        if (!followed.ok) return { ...followed, reason: mask(followed.reason) };
        return readAnswer(withMaskedHeaders(followed.answer, mask), { mask, maxBytes, repeatable });
      } catch (error) {
        return ofNetwork(error, server, mask);
      }
    },
  };
}

function ofNetwork(error: unknown, server: URL, mask: Mask): CallFailure {
  const { code, syscall } = Object(error);
  const reason = mask(`${server.origin}: ${describeThrown(error)}`);
  if (code === 'ERR_INVALID_CHAR') return fail('invalid_arguments', `A header can't be written: ${reason}`);
  return fail(
    isNeverConnected(String(code), syscall) ? 'tool_unavailable' : 'connection_lost',
    `No answer from ${reason}`,
  );
}

function readServer(tool: Tool, { server: text = '' }: HttpTarget): URL | CallFailure {
  if (!URL.canParse(text) || /[{}]/u.test(text)) {
    const places = 'http.servers in the configuration file, baseUrls of loadCatalog';
    const advice = `give its base URL under this name (${places})`;
    return fail('not_runnable', `"${tool.origin}" names no whole server URL (${text || 'none'}): ${advice}.`);
  }
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    return fail('address_refused', `The server of ${tool.name} is no http(s) URL.`);
  }
  if (url.username !== '' || url.password !== '') {
    return fail(
      'address_refused',
      `The server URL of ${tool.name} holds a user name; secrets come from http.secrets of the configuration file.`,
    );
  }
  return url;
}

function isOrigin(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  const isBare = url.pathname === '/' && url.search === '' && url.hash === '' && url.username === '';
  return isBare && (url.protocol === 'https:' || url.protocol === 'http:');
}

function originOf(text: string): string {
  return new URL(text).origin;
}

/** Servers may echo secrets in any header. */
function withMaskedHeaders(answer: HttpAnswer, mask: Mask): HttpAnswer {
  const headers = Object.entries(answer.headers).map(([name, value]) => [name, mask(value)]);
  return { ...answer, headers: Object.fromEntries(headers) };
}

// The answer of a server as tool output: parsed JSON, text, or base64 for other bytes; secrets are masked.

type Mask = (text: string) => string;

/** Statuses with which the server, or a gateway before it, says that it has not begun. */
const BUSY = new Set([429, 503]);
/** Statuses of a gateway, with which the effect is unknown. */
const LOST = new Set([502, 504]);
const MAX_ERROR_CHARACTERS = 500;
const TEXT = /^(?:text\/|application\/(?:xml|javascript|yaml|x-ndjson|.+\+(?:xml|yaml))\b)/iu;
const JSON_TYPE = /^(?:application|text)\/(?:[\w.-]+\+)?json\b/iu;

interface Reading extends Pick<ExecutorCall, 'repeatable'> {
  readonly mask: Mask;
  readonly maxBytes: number;
}

function readAnswer(answer: HttpAnswer, { mask, maxBytes, repeatable }: Reading): Executed {
  if (answer.tooLarge) return fail('output_too_large', `The server sent more than ${maxBytes} bytes.`);
  if (answer.status < 200 || answer.status > 299) return toFailure(answer, { mask, repeatable });
  if (answer.body.length === 0) return { ok: true, output: null };
  const type = answer.headers['content-type'] ?? '';
  if (JSON_TYPE.test(type)) return parseJson(mask(textOf(answer)));
  if (TEXT.test(type) || type === '') return { ok: true, output: mask(textOf(answer)) };
  const bytes = Buffer.from(mask(answer.body.toString('latin1')), 'latin1');
  const output = { contentType: type, base64: bytes.toString('base64') };
  return { ok: true, output, notes: [`the server sent ${type}; its bytes are given as base64`] };
}

function parseJson(text: string): Executed {
  try {
    return { ok: true, output: JSON.parse(text) };
  } catch {
    return { ok: true, output: text, notes: ['the server said that it sends JSON, but it is none: given as text'] };
  }
}

function toFailure(answer: HttpAnswer, { mask, repeatable }: Omit<Reading, 'maxBytes'>): CallFailure {
  const { status, headers } = answer;
  const words = mask(textOf(answer)).trim().slice(0, MAX_ERROR_CHARACTERS);
  const said = words === '' ? '' : `: ${words}`;
  const seconds = /^\d{1,9}$/u.exec(headers['retry-after'] ?? '');
  const wait = seconds ? ` It asks to wait ${seconds} s.` : '';
  const reason = `The server answered with HTTP ${status}${said}.${wait}`;
  // Where a second effect would do harm, the word of a server is not enough.
  if (BUSY.has(status)) return fail(repeatable ? 'tool_unavailable' : 'connection_lost', reason);
  return fail(LOST.has(status) ? 'connection_lost' : 'tool_failed', reason);
}

function textOf({ body, headers }: HttpAnswer): string {
  const [, charset] = /charset="?([\w-]+)/iu.exec(headers['content-type'] ?? '') ?? [];
  try {
    return new TextDecoder(charset ?? 'utf-8').decode(body);
  } catch {
    return new TextDecoder().decode(body);
  }
}
