/**
 * Snapshots move an index to another process: `meta` only identifies it, `full` holds it. Imports are checked
 * completely, since a broken index would silently answer wrongly.
 */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Tool } from '../../core/catalog/tool.js';
import { messageOf, WinnowError } from '../../core/errors.js';
import { parse } from '../../core/parse.js';
import {
  type FieldWeights,
  fieldWeightsSchema,
  restoreSegment,
  type Segment,
} from '../../core/search/keyword-index.js';
import { type Generation, groupTools, INDEX_VERSION } from './generation.js';

export const SNAPSHOT_LEVELS = ['none', 'meta', 'full'] as const;
export type SnapshotLevel = (typeof SNAPSHOT_LEVELS)[number];

/** Maximum size of a full snapshot's body in bytes; about 25 MB hold 100,000 tools. */
export const DEFAULT_MAX_SNAPSHOT_BYTES = 32 * 1024 * 1024;

const segmentSchema = z.strictObject({
  owner: z.string().nullable().describe('The user whose private tools these are; null for those of the system.'),
  index: z.string().describe('JSON, as MiniSearch writes it.'),
});
const meta = {
  version: z.int(),
  fingerprint: z.string(),
  weights: fieldWeightsSchema,
  tools: z.int().min(0),
  createdAt: z.iso.datetime().describe('When the index was built.'),
};
export const snapshotSchema = z.discriminatedUnion('level', [
  z.strictObject({ level: z.literal('none') }),
  z.strictObject({ level: z.literal('meta'), ...meta, note: z.string().optional() }),
  z.strictObject({
    level: z.literal('full'),
    ...meta,
    checksum: z.string().describe('SHA-256 of the segments as JSON, in hexadecimal.'),
    segments: z.array(segmentSchema),
  }),
]);
export type Snapshot = z.infer<typeof snapshotSchema>;

interface SnapshotOptions {
  level: SnapshotLevel;
  /** A larger one becomes `meta`, with a note. Default: 32 MiB. */
  maxBytes?: number | undefined;
  /** When the index was built. UTC, ISO 8601. */
  builtAt: string;
}

export function exportSnapshot(generation: Generation, { level, maxBytes, builtAt }: SnapshotOptions): Snapshot {
  if (level === 'none') return { level };
  const { fingerprint, weights } = generation;
  const tools = [generation.system, ...generation.own.values()].reduce((sum, one) => sum + one.tools.length, 0);
  const about = { version: INDEX_VERSION, fingerprint, weights, tools, createdAt: builtAt };
  if (level === 'meta') return { level, ...about };
  const segments = [
    { owner: null, index: generation.system.toJson() },
    ...[...generation.own].map(([owner, segment]) => ({ owner, index: segment.toJson() })),
  ];
  const body = JSON.stringify(segments);
  const most = maxBytes ?? DEFAULT_MAX_SNAPSHOT_BYTES;
  const bytes = Buffer.byteLength(body);
  if (bytes > most) return { level: 'meta', ...about, note: `full has ${bytes} bytes, and the cap is ${most}` };
  return { level, ...about, checksum: checksumOf(body), segments };
}

/**
 * The index of a full snapshot for these tools, which must be those it was built from.
 * @throws WinnowError `invalid_request` naming what is wrong with the snapshot.
 */
export function restoreGeneration(snapshot: Snapshot & { level: 'full' }, tools: readonly Tool[]): Generation {
  const { fingerprint, weights, segments, checksum } = snapshot;
  if (checksumOf(JSON.stringify(segments)) !== checksum) throw broken('its checksum is not that of its content');
  const groups = groupTools(tools);
  const byOwner = new Map(segments.map((segment) => [segment.owner, segment]));
  const segmentOf = (owner: string | null, theirs: readonly Tool[]) => {
    const plain = byOwner.get(owner);
    if (!plain)
      throw broken(owner === null ? 'the tools of the system are missing' : 'the tools of a user are missing');
    return restored(plain, theirs, weights);
  };
  return {
    fingerprint,
    weights,
    system: segmentOf(null, groups.system),
    own: new Map([...groups.own].map(([user, theirs]) => [user, segmentOf(user, theirs)])),
  };
}

/** @throws WinnowError `invalid_request` */
export function parseSnapshot(input: unknown): Snapshot {
  const parsed = parse(snapshotSchema, input, { root: 'snapshot' });
  if (parsed.ok) return parsed.value;
  const { issues } = parsed;
  throw new WinnowError('invalid_request', `The snapshot is not usable: ${issues.slice(0, 5).join('; ')}.`, { issues });
}

function restored({ index }: z.infer<typeof segmentSchema>, tools: readonly Tool[], weights: FieldWeights): Segment {
  try {
    return restoreSegment(tools, weights, index);
  } catch (cause) {
    throw broken(messageOf(cause));
  }
}

function checksumOf(body: string): string {
  return createHash('sha256').update(body).digest('hex');
}

function broken(what: string): WinnowError {
  return new WinnowError('invalid_request', `The snapshot is broken: ${what}. Export it again, or rebuild the index.`);
}
