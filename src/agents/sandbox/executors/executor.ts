/** The seam between the sandbox and what really runs a tool. An executor must end soon after its signal fires. */
import { isUrl } from '../../../core/catalog/sources/source.js';
import type { Tool } from '../../../core/catalog/tool.js';
import type { ContentBlock } from '../../contracts.js';
import type { CallHearing } from '../../hearing.js';
import type { CallFailure } from '../failure.js';
import type { McpOffers } from './offers.js';

/** Each word of progress prolongs the call, and so does a question while it is open. */
export interface ExecutorCall extends CallHearing {
  readonly tool: Tool;
  /** Checked, with the defaults of the schema. */
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly user?: string | undefined;
  readonly session?: string | undefined;
  /** Fires at the time-out and on cancellation. Its own for each call. */
  readonly signal: AbortSignal;
  /** A result above this many bytes need not be read to its end. */
  readonly maxReadBytes: number;
  /** Whether the call may be made a second time when the connection broke in the middle of the first. */
  readonly repeatable: boolean;
}

export interface ExecutedWell {
  readonly ok: true;
  readonly output: unknown;
  readonly notes?: readonly string[];
  /** What was answered as blocks; `output` is what models and plans read of it. */
  readonly content?: readonly ContentBlock[];
  /** What was said of the answer besides. */
  readonly meta?: Readonly<Record<string, unknown>>;
  /** `output` is structured content, which has to fit the outputSchema. Default: false. */
  readonly isStructured?: boolean;
}

export type Executed = ExecutedWell | CallFailure;

/** Servers that were tried -> what they did when they failed last, for anybody; undefined of those that answer. */
export type ServerHealth = ReadonlyMap<string, string | undefined>;

export interface Executor {
  /** By what the source of the tool says of it, see `runnerOf`. Of those that can, the first in a list runs it. */
  canRun(tool: Tool): boolean;
  /** What is thrown counts as a failure of the tool. */
  run(call: ExecutorCall): Promise<Executed>;
  /** What a call gets where no limit says how long, in milliseconds. Default: 3,000, as for functions. */
  defaultTimeoutMs?(tool: Tool): number | undefined;
  /** Why no call of the tool is tried now, for anybody. Default: calls are tried. */
  whyDown?(tool: Tool): string | undefined;
  /** Default: it calls no servers. */
  health?(): ServerHealth;
  /** What the MCP servers that it calls offer besides tools. Default: it calls none. */
  readonly offers?: McpOffers | undefined;
  /** Gives connections and processes back. Idempotent. */
  close?(): Promise<void>;
}

/**
 * What kind of executor may run a tool. A tool of a server or document goes there and nowhere else, whatever its name,
 * so it can't reach a function of the operator's. A private tool is written by its user: only its text can be read.
 */
export function runnerOf({
  toolType,
  scope,
  metadata,
  origin,
}: Tool): 'skill' | 'mcp' | 'http' | 'function' | undefined {
  if (toolType === 'skill') return 'skill';
  if (scope !== 'system') return undefined;
  if (metadata.mcp !== undefined) return 'mcp';
  if (metadata.http !== undefined) return 'http';
  return toolType === 'builtin' && !isUrl(origin) ? 'function' : undefined;
}
