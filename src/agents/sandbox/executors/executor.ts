/** The interface between the sandbox and what runs a tool. An executor must end soon after its signal fires. */
import { isUrl } from '../../../core/catalog/sources/source.js';
import type { Tool } from '../../../core/catalog/tool.js';
import type { ContentBlock } from '../../contracts.js';
import type { CallListeners } from '../../hearing.js';
import type { CallFailure } from '../failure.js';
import type { McpOffers } from './offers.js';

/** Each progress report prolongs the call, and so does an open question. */
export interface ExecutorCall extends CallListeners {
  readonly tool: Tool;
  /** Validated, with the defaults of the schema. */
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly user?: string | undefined;
  readonly session?: string | undefined;
  /** Fires at the time-out and on cancellation. Each call has its own. */
  readonly signal: AbortSignal;
  /** Results above this many bytes need not be read completely. */
  readonly maxReadBytes: number;
  /**
   * Whether the call may be repeated if the connection breaks during it. False: once a server has answered, it is not sent
   * again, and no word of the server means that the tool has not run.
   */
  readonly repeatable: boolean;
  /** Asked right before the call is sent, where the executor waits for anything first: a refusal ends the call. */
  findRefusal(): Promise<CallFailure | undefined>;
}

export interface ExecutedWell {
  readonly ok: true;
  readonly output: unknown;
  readonly notes?: readonly string[];
  /** The answer as content blocks; models and plans read `output`. */
  readonly content?: readonly ContentBlock[];
  /** The `_meta` of the answer. */
  readonly meta?: Readonly<Record<string, unknown>>;
  /** `output` is structured content, which has to fit the outputSchema. Default: false. */
  readonly isStructured?: boolean;
}

export type Executed = ExecutedWell | CallFailure;

/** Servers that were tried -> description of the last failure; undefined for those that answer. */
export type ServerHealth = ReadonlyMap<string, string | undefined>;

export interface Executor {
  /** Decides by the tool's source, see `runnerOf`. The first executor in a list that can run a tool does. */
  canRun(tool: Tool): boolean;
  /** A thrown error counts as a failure of the tool. */
  run(call: ExecutorCall): Promise<Executed>;
  /** Time-out without a configured one, in milliseconds. Default: 3,000, as for functions. */
  defaultTimeoutMs?(tool: Tool): number | undefined;
  /** Why calls of the tool fail for everybody now. Default: calls are always tried. */
  whyDown?(tool: Tool): string | undefined;
  /**
   * Why calls of these tools must fail as the configuration is, with the names of the tools. It makes no call, but may
   * resolve names of hosts. Default: nothing is known before a call.
   */
  findObstacles?(tools: readonly Tool[]): Promise<ReadonlyMap<string, readonly string[]>>;
  /** Default: it calls no servers. */
  health?(): ServerHealth;
  /** What its MCP servers offer besides tools. Default: it has none. */
  readonly offers?: McpOffers | undefined;
  /** Ends connections and processes. Idempotent. */
  close?(): Promise<void>;
}

export const RUNNERS = ['skill', 'mcp', 'http', 'function'] as const;

/**
 * The kind of executor that may run a tool. A tool of a server or document runs there only, whatever its name, so it
 * can't reach a function of the operator. A private tool comes from its user: only its text can be read.
 */
export function runnerOf({ toolType, scope, metadata, origin }: Tool): (typeof RUNNERS)[number] | undefined {
  if (toolType === 'skill') return 'skill';
  if (scope !== 'system') return undefined;
  if (metadata.mcp !== undefined) return 'mcp';
  if (metadata.http !== undefined) return 'http';
  return toolType === 'builtin' && !isUrl(origin) ? 'function' : undefined;
}
