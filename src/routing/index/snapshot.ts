/**
 * An index on its way to another process: `meta` says what it was made of, `full` brings it along. What comes in is
 * checked whole, since a broken index would answer wrongly without a word.
 */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Tool } from '../../core/catalog/tool.js';
import { WinnowError } from '../../core/errors.js';
import { parse } from '../../core/parse.js';
import { fieldWeightsSchema } from '../../core/search/fields.js';
import type { Postings } from '../../core/search/postings.js';
import { createSegment, runWhole, type Segment } from '../../core/search/segment.js';
import { type Generation, groupTools, INDEX_VERSION } from './generation.js';

export const SNAPSHOT_LEVELS = ['none', 'meta', 'full'] as const;
export type SnapshotLevel = (typeof SNAPSHOT_LEVELS)[number];

/** Most bytes of the body of a full snapshot; about 25 MB hold 100,000 tools. */
export const DEFAULT_MAX_SNAPSHOT_BYTES = 32 * 1024 * 1024;

const segmentSchema = z.strictObject({
  owner: z.string().nullable().describe('The user whose private tools these are; null for those of the system.'),
  terms: z.array(z.string()),
  starts: z.base64(),
  documents: z.base64(),
  strengths: z.base64(),
  fields: z.base64(),
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

export interface SnapshotOptions {
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
    toPlain(generation.system, null),
    ...[...generation.own].map(([owner, segment]) => toPlain(segment, owner)),
  ];
  const body = JSON.stringify(segments);
  const most = maxBytes ?? DEFAULT_MAX_SNAPSHOT_BYTES;
  const bytes = Buffer.byteLength(body);
  if (bytes > most) return { level: 'meta', ...about, note: `full has ${bytes} bytes, and the cap is ${most}` };
  return { level, ...about, checksum: checksumOf(body), segments };
}

/**
 * The index of a full snapshot for these tools, which must be those it was made of.
 * @throws WinnowError `invalid_request` naming what is wrong with the snapshot.
 */
export function restoreGeneration(snapshot: Snapshot & { level: 'full' }, tools: readonly Tool[]): Generation {
  const { fingerprint, weights, segments, checksum } = snapshot;
  if (checksumOf(JSON.stringify(segments)) !== checksum) throw broken('its checksum is not that of its content');
  const groups = groupTools(tools);
  const restored = new Map(segments.map((segment) => [segment.owner, segment]));
  const segmentOf = (owner: string | null, theirs: readonly Tool[]) => {
    const plain = restored.get(owner);
    if (!plain)
      throw broken(owner === null ? 'the tools of the system are missing' : 'the tools of a user are missing');
    return fromPlain(plain, theirs);
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

type PlainSegment = z.infer<typeof segmentSchema>;

function toPlain({ postings }: Segment, owner: string | null): PlainSegment {
  const { terms, starts, documents, strengths, fields } = postings;
  return {
    owner,
    terms: [...terms],
    starts: toBase64(starts),
    documents: toBase64(documents),
    strengths: toBase64(strengths),
    fields: toBase64(fields),
  };
}

function fromPlain(plain: PlainSegment, tools: readonly Tool[]): Segment {
  const postings: Postings = {
    terms: plain.terms,
    starts: new Uint32Array(toBuffer(plain.starts, 4)),
    documents: new Uint32Array(toBuffer(plain.documents, 4)),
    strengths: new Float32Array(toBuffer(plain.strengths, 4)),
    fields: new Uint8Array(toBuffer(plain.fields, 1)),
  };
  const { terms, starts, documents, strengths, fields } = postings;
  const entries = documents.length;
  const isWhole =
    starts.length === terms.length + 1 &&
    starts[0] === 0 &&
    starts[terms.length] === entries &&
    strengths.length === entries &&
    fields.length === entries;
  const isSorted = terms.every((term, place) => place === 0 || (terms[place - 1] ?? '') < term);
  const isAscending = starts.every((start, place) => place === 0 || (starts[place - 1] ?? 0) <= start);
  if (!isWhole || !isSorted || !isAscending) throw broken('its arrays do not fit together');
  if (documents.some((document) => document >= tools.length)) throw broken('it names tools that are not there');
  return runWhole(createSegment(tools, postings));
}

function toBase64(array: Uint32Array | Float32Array | Uint8Array): string {
  return Buffer.from(array.buffer, array.byteOffset, array.byteLength).toString('base64');
}

function toBuffer(text: string, width: number): ArrayBuffer {
  const bytes = Buffer.from(text, 'base64');
  if (bytes.length % width !== 0) throw broken('an array is cut off');
  return new Uint8Array(bytes).buffer;
}

function checksumOf(body: string): string {
  return createHash('sha256').update(body).digest('hex');
}

function broken(what: string): WinnowError {
  return new WinnowError(
    'invalid_request',
    `The snapshot is broken: ${what}. Export it again, or build the index anew.`,
  );
}
