/** One server of an MCP configuration: its format, the names of its tools, and its failures. */
import { createHash } from 'node:crypto';
import querystring from 'node:querystring';
import type { AuthProvider } from '@modelcontextprotocol/client';
import { z } from 'zod';
import { findSlips } from '../../nearest-name.js';
import { parse } from '../../parse.js';
import { createKeyMask, keysOfLogin } from '../../secret-forms.js';
import { isObject } from '../schema/json.js';

const texts = z.record(z.string(), z.string()).optional();
const common = {
  disabled: z.boolean().optional().describe('Leaves the server out, as in other programs that read this format.'),
  prefix: z
    .boolean()
    .optional()
    .describe(
      'false: its tools have no `github__` before their names, but for a name that holds `__` itself. Default: true.',
    ),
  trust: z
    .boolean()
    .optional()
    .describe(
      'Its hints (`readOnlyHint`, `destructiveHint`) say what risk its tools have. Default: each has high risk.',
    ),
};

const processSchema = z.object({
  ...common,
  type: z.enum(['stdio', 'local']).optional(),
  command: z.string().min(1),
  args: z.array(z.string()).optional(),
  env: texts.describe('Added to the few variables that the SDK passes by default (PATH, HOME and the like).'),
  envFile: z.string().min(1).optional().describe('Lines NAME=value; `env` overrides them.'),
  cwd: z.string().min(1).optional().describe('Relative to the folder of the configuration.'),
});

const GRANTS = ['client_credentials', 'authorization_code'] as const;
const oauthSchema = z.object({
  grant: z
    .enum(GRANTS)
    .optional()
    .describe(
      'authorization_code: each user authorizes their own calls, see `connections`. Default: one token for all users.',
    ),
  clientId: z.string().min(1),
  clientSecret: z
    .string()
    .min(1)
    .optional()
    .describe('As `${NAME}`, from the environment. A public client of authorization_code has none.'),
  scope: z.string().min(1).optional().describe("With spaces between several. Default: the issuer's own default."),
  issuer: z
    .string()
    .min(1)
    .optional()
    .describe(
      'The only place, besides the server, that gets token requests. Default: the server names one at its own origin.',
    ),
});

const remoteSchema = z
  .object({
    ...common,
    type: z
      .enum(['http', 'streamable-http', 'streamableHttp', 'sse'])
      .optional()
      .describe('Default: streamable HTTP, and SSE where the server refuses it.'),
    // Whether it is a URL can be checked only after its variables are expanded.
    url: z.string().min(1),
    headers: texts,
    oauth: oauthSchema
      .refine(({ grant, clientSecret }) => grant === 'authorization_code' || clientSecret !== undefined, {
        path: ['clientSecret'],
        error: 'client credentials need it',
      })
      .optional()
      .describe('The client of an issuer of tokens, which go to this server alone.'),
  })
  .refine(({ oauth, headers = {} }) => !oauth || !Object.keys(headers).some((name) => /^authorization$/iu.test(name)), {
    error: '"oauth" and the header "authorization" say who asks: leave one of them out',
  });

/** A process on stdio, or a URL, in the format of Claude Desktop, Cursor and VS Code. */
export type McpServer = z.infer<typeof processSchema> | z.infer<typeof remoteSchema>;

export type OauthServer = Extract<McpServer, { url: string }> & { oauth: z.infer<typeof oauthSchema> };
/** Users authorize their own calls. */
export type UserServer = OauthServer & { oauth: { grant: 'authorization_code' } };

export function isOfUsers(server: McpServer): server is UserServer {
  return 'url' in server && server.oauth?.grant === 'authorization_code';
}

/** Where `winnow serve` lets a user connect the server. */
export function connectionPathOf(name: string): string {
  return `/v1/connections/${encodeURIComponent(name)}`;
}

export interface ServerTokens extends Required<AuthProvider> {
  /** Recent tokens, which no text may contain. */
  keys(): readonly string[];
}

/** Share of an unknown key's letters. Keys of other programs differ more and cause no warning. */
const MAX_KEY_SLIPS = 0.34;

/**
 * @param place begins each problem, for example `mcpServers.github`
 * @throws Error whose message lists the problems
 */
export function parseMcpServer(written: unknown, place: string): McpServer {
  if (!isObject(written)) throw unusable(`${place}: not an object`);
  const kind = ['command', 'url'].find((key) => written[key] !== undefined);
  const schema = kind === 'command' ? processSchema : remoteSchema;
  refuseSlips(written, kind ? Object.keys(schema.shape) : ['command', 'url'], place);
  if (!kind) throw unusable(`${place}: neither "command" nor "url"`);
  if (isObject(written.oauth)) refuseSlips(written.oauth, Object.keys(oauthSchema.shape), `${place}.oauth`);
  const parsed = parse(schema, written, { within: place });
  if (!parsed.ok) throw unusable(parsed.issues.join('; '));
  return parsed.value;
}

function refuseSlips(written: object, known: readonly string[], place: string): void {
  const [slip] = findSlips(written, known, MAX_KEY_SLIPS);
  if (slip) throw unusable(`${place}.${slip[0]}: an unknown key; "${slip[1]}" may be meant`);
}

function unusable(problem: string): Error {
  return new Error(`is not usable (${problem}). ${FORM}`);
}

const FORM = 'Write it as {"command", "args"} or {"url", "headers"}';

/** The part before the first `__` identifies the server: no server's prefix contains another `__`. */
export function toolNameOf(tool: string, server: string, { prefix }: Pick<McpServer, 'prefix'> = {}): string {
  return prefix === false && !tool.includes('__') ? tool : `${prefixOf(server)}${tool}`;
}

/** The prefix of the names of a server's tools and prompts. */
export function prefixOf(server: string): string {
  const plain = server.replace(/[^\p{L}\p{N}-]+/gu, '_').replace(/^_|_$/gu, '');
  return `${plain || 'server'}__`;
}

/** Another server with the same prefix: its tools and prompts could be taken for this one's. */
export function findNamesake(server: string, others: Iterable<string>): string | undefined {
  return [...others].find((other) => other !== server && prefixOf(other) === prefixOf(server));
}

/** Masks keys, which servers and libraries repeat in error messages. @param tokens obtained besides the configured keys */
export function maskOf(server: McpServer, tokens: readonly string[] = []): (text: string) => string {
  return createKeyMask([...valuesOf(server).map(([, value]) => value), ...tokens]);
}

/** Masks the server's keys, by now, in what its tools answer, and leaves settings there. */
export function createAnswerMask(server: McpServer, tokens?: Pick<ServerTokens, 'keys'>): (text: string) => string {
  const configured = valuesOf(server).flatMap(([name, value]) => (isKey(name, value) ? [value] : []));
  let known = tokens?.keys() ?? [];
  let mask = createKeyMask([...configured, ...known]);
  return (text) => {
    const keys = tokens?.keys() ?? known;
    if (keys !== known) mask = createKeyMask([...configured, ...keys]);
    known = keys;
    return mask(text);
  };
}

const KEY_NAME = /key|token|secret|pass|pw|auth|cred|cookie|session/iu;
/** What even a variable such as `USE_TOKEN` or `MAX_TOKENS` holds. */
const SWITCH = /^(?:true|false|none|null|\d{1,5})$/iu;
/** Words with at most two digits, a number, a path, a URL without a login and a query. Answers may well hold these. */
const SETTING =
  /^(?:[\p{L}._ ,/-]*(?:\d[\p{L}._ ,/-]*){0,2}|[\d.:,_-]+|(?:~|\.{0,2}\/|[a-z]:[\\/]).*|[a-z][a-z\d+.-]*:\/\/[^@?]*)$/isu;

function isKey(name: string, value: string): boolean {
  return !(KEY_NAME.test(name) ? SWITCH : SETTING).test(value);
}

/** Configured values that may be keys, each with its name. */
function valuesOf(server: McpServer): (readonly [name: string, value: string])[] {
  if ('command' in server)
    return Object.entries(server.env ?? {}).flatMap(([name, value]) => [[name, value], ...valuesOfUrl(value)]);
  const { url, headers = {}, oauth } = server;
  const ofHeaders = Object.entries(headers).flatMap(([name, value]) => {
    const [scheme = '', ...others] = value.split(' ');
    const logins = /^basic$/iu.test(scheme) ? others.flatMap((one) => keysOfLogin(textOfBase64(one))) : [];
    return [value, ...others, ...logins].map((one) => [name, one] as const);
  });
  const secret = oauth?.clientSecret;
  const ofOauth = secret === undefined ? [] : [secret, `${oauth?.clientId}:${secret}`];
  return [...ofHeaders, ...ofOauth.map((one) => ['secret', one] as const), ...valuesOfUrl(url)];
}

function valuesOfUrl(text: string): (readonly [name: string, value: string])[] {
  if (!URL.canParse(text)) return [];
  const { username, password, searchParams } = new URL(text);
  const passwords = [password, querystring.unescape(password)].map((one) => ['password', one] as const);
  return [['username', username], ...passwords, ...searchParams];
}

function textOfBase64(text: string): string {
  return Buffer.from(text, 'base64').toString('utf8');
}

/** A hash that changes when calls of the server would go elsewhere. It contains no header, and so no key of one. */
export function targetOf(server: McpServer): string {
  const { command, args, env, cwd, url }: Record<string, unknown> = { ...server };
  const target = JSON.stringify([command, args, env, cwd, url]);
  return createHash('sha256').update(target).digest('hex').slice(0, 16);
}

interface McpFailureFacts {
  /** What the server did, in Winnow's words only, since not just its callers read it. */
  readonly brief: string;
  /** What its process wrote on stderr, which may hold keys and paths. */
  readonly lastWords: string;
  readonly cause: unknown;
}

/** Says what a server did and what to do about it, for its caller. */
export class McpFailure extends Error {
  readonly brief: string;
  readonly lastWords: string;

  constructor(message: string, { brief, lastWords, cause }: McpFailureFacts) {
    super(message, { cause });
    this.brief = brief;
    this.lastWords = lastWords;
  }

  /** The message and the end of the server's stderr. */
  get forOperators(): string {
    return this.lastWords === '' ? this.message : `${this.message}; its stderr ends with: ${this.lastWords}`;
  }
}

/** What a server did, in words that may be shown to anyone. */
export function briefOf(error: unknown): string {
  return error instanceof McpFailure ? error.brief : 'failed';
}
