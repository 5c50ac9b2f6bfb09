/** One complete, immutable index: its inputs, and the segments to search. */
import { createHash, type Hash } from 'node:crypto';
import { toolHash } from '../../core/catalog/catalog.js';
import type { Tool } from '../../core/catalog/tool.js';
import { buildSegment, type FieldWeights, type Segment } from '../../core/search/keyword-index.js';

/** Raise it when tokenization or scoring of the same tools changes. */
export const INDEX_VERSION = 7;

export interface Generation {
  /** SHA-256 over the searched fields of each tool, the weights and the version, in hexadecimal. */
  readonly fingerprint: string;
  readonly weights: FieldWeights;
  readonly system: Segment;
  /** User -> the tools that only they see. */
  readonly own: ReadonlyMap<string, Segment>;
}

/** Tools by owner, in the catalogue's order; unavailable ones are not indexed. */
interface ToolGroups {
  readonly system: readonly Tool[];
  readonly own: ReadonlyMap<string, readonly Tool[]>;
}

export function groupTools(tools: readonly Tool[]): ToolGroups {
  const system: Tool[] = [];
  const own = new Map<string, Tool[]>();
  for (const tool of tools) {
    if (!tool.available) continue;
    if (tool.scope === 'system') system.push(tool);
    else own.set(tool.scope.user, [...(own.get(tool.scope.user) ?? []), tool]);
  }
  return { system, own };
}

/** A generator, since it reads all that is searched: callers can yield between tools. */
export function* fingerprintTools(tools: readonly Tool[], weights: FieldWeights): Generator<void, string, void> {
  const hash = createHash('sha256').update(JSON.stringify([INDEX_VERSION, weights]));
  for (const tool of tools) {
    addTool(hash, tool);
    yield;
  }
  return hash.digest('hex');
}

/** Hashes what models see of a tool, and the fields that only search reads. */
function addTool(hash: Hash, tool: Tool): void {
  hash
    .update(toolHash(tool))
    .update(JSON.stringify([tool.title, tool.keywords, tool.aliases, tool.examples, tool.available]));
}

/** @param previous reuses its segments whose tools and weights are unchanged */
export function* buildGeneration(
  tools: readonly Tool[],
  weights: FieldWeights,
  previous: Generation | undefined,
): Generator<void, Generation, void> {
  const fingerprint = yield* fingerprintTools(tools, weights);
  if (previous?.fingerprint === fingerprint && isOf(previous, tools)) return previous;
  const groups = groupTools(tools);
  const isSameWeights = JSON.stringify(previous?.weights) === JSON.stringify(weights);
  const reusable = isSameWeights ? previous : undefined;
  const system = yield* buildGroup(groups.system, weights, reusable?.system);
  const own = new Map<string, Segment>();
  for (const [user, theirs] of groups.own) own.set(user, yield* buildGroup(theirs, weights, reusable?.own.get(user)));
  return { fingerprint, weights, system, own };
}

function* buildGroup(
  tools: readonly Tool[],
  weights: FieldWeights,
  previous: Segment | undefined,
): Generator<void, Segment, void> {
  if (previous && isSame(previous.tools, tools)) return previous;
  return yield* buildSegment(tools, weights);
}

function isOf(generation: Generation, tools: readonly Tool[]): boolean {
  const groups = groupTools(tools);
  return (
    isSame(generation.system.tools, groups.system) &&
    [...groups.own].every(([user, theirs]) => isSame(generation.own.get(user)?.tools ?? [], theirs))
  );
}

function isSame(one: readonly Tool[], other: readonly Tool[]): boolean {
  return one.length === other.length && one.every((tool, place) => tool === other[place]);
}
