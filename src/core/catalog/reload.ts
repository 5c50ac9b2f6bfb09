/** A load against the one before it: what changed, what a broken source gave before, and which tools have other names. */
import { isDeepStrictEqual } from 'node:util';
import { toolHash } from './catalog.js';
import { isObject } from './schema/json.js';
import { originOf, type ParsedReading } from './sources/entries.js';
import type { SourceFailure } from './sources/source.js';
import type { EntryIssue, Tool } from './tool.js';

export interface CatalogChanges {
  /** Names, in the order of the new catalogue; `removed` in that of the old. */
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly removed: readonly string[];
}

/**
 * Unchanged tools stay the same objects, so that caches keyed by them hold. `toolHash` covers what a model sees; risk,
 * keywords and the like must be equal too, or a policy would work on old facts.
 */
export function keepUnchanged(
  tools: readonly Tool[],
  previous: readonly Tool[],
): { tools: readonly Tool[]; changes: CatalogChanges } {
  const before = new Map(previous.map((tool) => [keyOf(tool), tool]));
  const added: string[] = [];
  const changed: string[] = [];
  const kept = tools.map((tool) => {
    const old = before.get(keyOf(tool));
    if (old && toolHash(old) === toolHash(tool) && isDeepStrictEqual(old, tool)) return old;
    (old ? changed : added).push(tool.name);
    return tool;
  });
  const now = new Set(tools.map(keyOf));
  const removed = previous.filter((tool) => !now.has(keyOf(tool))).map(({ name }) => name);
  return { tools: kept, changes: { added, changed, removed } };
}

function keyOf({ scope, name }: Tool): string {
  return JSON.stringify([scope, name]);
}

/** What a source gave. */
export interface GoodReading {
  readonly spec: string;
  readonly name: string;
  readonly parsed: ParsedReading;
}

export type Outcome = (GoodReading | { readonly spec: string; readonly parsed?: undefined }) & {
  readonly failures: readonly SourceFailure[];
  /** Of `failures`, those in whose place stands what was given before. */
  readonly kept?: readonly SourceFailure[];
};

/**
 * A source that failed stays whole as it was; where one of its servers did, that one alone. Servers stand in the order of
 * before, since a model reads a list anew from where it differs; new ones stand behind.
 */
export function keepFailed(outcome: Outcome, before: GoodReading | undefined): Outcome {
  const { spec, failures, parsed } = outcome;
  if (before?.spec !== spec || failures.length === 0) return outcome;
  if (!parsed) return { ...before, failures, kept: failures };
  const order = [...new Set(before.parsed.tools.map(({ place }) => originOf(place)))];
  const kept = failures.filter(({ source }) => order.includes(source));
  const isKept = (place: string) => kept.some(({ source }) => source === originOf(place));
  const rank = (place: string) => (order.includes(originOf(place)) ? order.indexOf(originOf(place)) : order.length);
  const tools = [...parsed.tools, ...before.parsed.tools.filter(({ place }) => isKept(place))];
  tools.sort((one, other) => rank(one.place) - rank(other.place));
  const issues = [...parsed.issues, ...before.parsed.issues.filter(({ entry }) => isKept(entry))];
  return { ...outcome, parsed: { tools, rules: parsed.rules, issues }, kept };
}

/**
 * One warning for each tool of an MCP server that has another name now, because another server has, or no longer has, a
 * tool of that name: whatever names it by hand must follow.
 */
export function findRenamed(now: readonly Tool[], before: readonly Tool[]): EntryIssue[] {
  const names = new Map(before.map((tool) => [ownNameOf(tool), tool.name]));
  return now.flatMap((tool) => {
    const ownName = ownNameOf(tool);
    const old = names.get(ownName);
    if (ownName === undefined || old === undefined || old === tool.name) return [];
    const message = `was "${old}" until now: rules, allow lists and policies that name it do not find it by that name`;
    return [{ level: 'warning', entry: tool.origin, name: tool.name, message }];
  });
}

/** Server and name there, which stay the same whatever the tool is called here. */
function ownNameOf({ metadata: { mcp } }: Tool): string | undefined {
  return isObject(mcp) ? JSON.stringify([mcp.server, mcp.tool]) : undefined;
}
