/** What a source is told by, and what every reader hands back: raw entries with the place they come from. */
import type { WinnowError } from '../../errors.js';
import type { EntryIssue, Tool, ToolEntry } from '../tool.js';

/** One server of an `mcpServers` configuration: a process on stdio, or a URL on streamable HTTP. */
export type McpServer = {
  /**
   * Its tools always have its name before theirs (`github__search`), so that what they are called depends on no other
   * server. Default: only where another server has a tool of that name.
   */
  readonly prefix?: boolean;
} & (
  | {
      readonly command: string;
      readonly args?: readonly string[];
      /** Added to the few variables that the SDK hands on by default (PATH, HOME and the like). */
      readonly env?: Readonly<Record<string, string>>;
      readonly cwd?: string;
    }
  | { readonly url: string; readonly headers?: Readonly<Record<string, string>> }
);

/** `path` is a file or folder, or, for `json` and `openapi`, an http(s) URL. */
export type SourceSpec =
  | { readonly kind: SourceFormat['kind']; readonly path: string }
  | { readonly kind: 'mcp'; readonly servers: Readonly<Record<string, McpServer>> }
  /** From code: entries as a file has them, or tools of another catalogue. */
  | { readonly kind: 'tools'; readonly name: string; readonly tools: readonly (ToolEntry | Tool)[] };

export interface SourceFailure {
  /** The source as it was told, or `config#server` for one server of an MCP configuration. */
  readonly source: string;
  readonly error: WinnowError;
  /** Of MCP servers that are not told apart by `prefix`: what tools of others are called depends on theirs. */
  readonly isNaming?: boolean;
}

/** Raw entries of one place. Each is parsed, or left out with an issue that names `origin` and its index. */
export interface SourcePart {
  readonly origin: string;
  readonly entries: readonly unknown[];
  /** MCP only: the server's name, used as a prefix where two servers have a tool of one name. */
  readonly server?: string;
  /** MCP only: the prefix is used in any case. */
  readonly isPrefixed?: boolean;
}

export interface SourceReading {
  /** The catalogue's own name, where the file has one. */
  readonly name?: string;
  readonly parts: readonly SourcePart[];
  readonly rules: readonly unknown[];
  readonly issues: readonly EntryIssue[];
  /** Servers of an MCP configuration that failed while others answered. */
  readonly failures: readonly SourceFailure[];
}

export interface ReadContext {
  /** For one URL, or one MCP server from its start to its last page. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  /** The value of a variable that a configuration names as `${NAME}`. */
  readonly variable?: ((name: string) => string | undefined) | undefined;
}

export function createReading(parts: readonly SourcePart[], more: Partial<SourceReading> = {}): SourceReading {
  return { rules: [], issues: [], failures: [], ...more, parts };
}

/** One format of a file, folder or URL. */
export interface SourceFormat {
  readonly kind: 'json' | 'openapi' | 'skills' | 'mcp';
  /** The end of a name that tells the format. */
  readonly names: RegExp;
  /** Whether what a `.json` file holds is of the format. */
  holds?(content: Readonly<Record<string, unknown>>): boolean;
  /** @throws WinnowError `source_failed`, `cancelled` */
  read(path: string, context: ReadContext): Promise<SourceReading>;
}

/** A source in words, without the user, password and query of a URL: those may be keys. */
export function describeSource(spec: string | SourceSpec): string {
  if (typeof spec === 'string') return withoutSecrets(spec);
  if (spec.kind === 'tools') return spec.name;
  if ('servers' in spec) return `mcp:${Object.keys(spec.servers).join(',')}`;
  return withoutSecrets(spec.path);
}

export function isUrl(text: string): boolean {
  return /^https?:\/\//i.test(text) && URL.canParse(text);
}

function withoutSecrets(spec: string): string {
  const [, prefix = '', location = spec] = /^([a-z]+:(?=https?:))?(.*)$/is.exec(spec) ?? [];
  if (!isUrl(location)) return spec;
  const { origin, pathname } = new URL(location);
  return `${prefix}${origin}${pathname}`;
}
