/** Steps in progress: which calls are the same, and which tools may take the place of another. */
import { sameJson } from '../../catalog/schema/json.js';
import { fillDefaults } from '../../catalog/schema/paths.js';
import type { Tool } from '../../catalog/tool.js';
import type { SourceName } from '../../result.js';
import type { ToolOfAsk } from './choose-tools.js';
import type { TakenWords } from './options.js';
import type { Deciding } from './read.js';
import { openReference } from './sources.js';
import type { Served } from './step-prompt.js';

/** A step in progress, with its required arguments that have no source. */
export interface Draft {
  readonly id: string;
  readonly tool: Tool;
  readonly arguments: Record<string, unknown>;
  readonly from: Record<string, SourceName>;
  readonly purpose: string;
  readonly missing: readonly string[];
  readonly taken: TakenWords;
  /** The argument of another step that its result provides; undefined for the tool of an ask. */
  readonly serves: Served | undefined;
}

/** The steps so far, and the lowest probability of a decision on their way. */
export interface Progress {
  readonly drafts: Draft[];
  confidence: number;
}

/** The steps to whose results the values refer. */
export function referredIn(values: unknown, drafts: readonly Draft[]): Draft[] {
  const text = JSON.stringify(values);
  return drafts.filter(({ id }) => text.includes(openReference(id)));
}

/** Whether two steps make the same call, defaults filled in, or the draft is a lookup with a subset of the same arguments. */
export function isSame(
  draft: Draft,
  { tool, arguments: values, serves }: Pick<Draft, 'tool' | 'arguments' | 'serves'>,
  { defaults }: Pick<Deciding, 'defaults'>,
): boolean {
  if (draft.tool !== tool) return false;
  const whole = (given: Draft['arguments']) => (defaults ? fillDefaults(tool.inputSchema, given) : given);
  const [one, other] = [whole(draft.arguments), whole(values)];
  // Undefined: the defaults are too large to be filled in.
  if (one !== undefined && sameJson(one, other)) return true;
  const names = Object.keys(draft.arguments);
  const areLookups = draft.serves !== undefined && serves !== undefined && names.length > 0;
  return areLookups && names.every((name) => sameJson(draft.arguments[name], values[name]));
}

/**
 * From this share of the best odds on, a tool fits about as well. If what the best one requires is missing, one of these with the
 * same risk takes its place where the request gives all that it requires. Where much is at risk, the user is asked.
 */
const NEAR = 0.75;

export function nearOf(tool: Tool, ranked: ToolOfAsk['ranked']): Tool[] {
  if (tool.risk === 'high') return [];
  const least = Math.max(1, NEAR * (ranked[0]?.odds ?? 0));
  const near = ranked.filter((one) => one.tool !== tool && one.tool.risk === tool.risk && one.odds >= least);
  return near.map((one) => one.tool);
}
