/** Shortens results to their limit. If possible, lists and objects keep their form, so that references still work. */
import { isObject } from '../../core/catalog/schema/json.js';
import { oncePer } from '../../core/kept.js';
import type { ContentBlock } from '../contracts.js';
import type { ToolLimits } from './limits.js';

interface Capped {
  readonly value: unknown;
  readonly note?: string;
}

/** Limits of list items, tried in order; texts may have `PER_ITEM` times as many characters, objects as many keys. */
const LIST_LIMITS = [1_000, 300, 100, 30, 10, 3, 1];
const PER_ITEM = 20;

/** `text` is the value as JSON. */
export function capOutput({ value, text }: { value: unknown; text: string }, maxBytes: number): Capped {
  const bytes = Buffer.byteLength(text);
  if (bytes <= maxBytes) return { value };
  const size = `The result had ${bytes} bytes, more than ${maxBytes} (limit maxOutputBytes)`;
  if (typeof value === 'string') return { value: cutText(value, maxBytes), note: `${size}: the text was cut.` };
  // Cached: an object may have a hundred thousand keys.
  const keys = oncePer((object: object): readonly string[] => Object.keys(object));
  for (const items of LIST_LIMITS) {
    const were = new Set<string>();
    const shorter = shorten(value, { items, room: { bytes: maxBytes }, keys, were });
    if (shorter === NO_ROOM) continue;
    const [first, ...others] = were;
    return { value: shorter, note: `${size}: ${[first?.replace(' ', ' were cut '), ...others].join(', ')}.` };
  }
  return { value: cutText(text, maxBytes), note: `${size}: it was cut, and is now a text, not JSON.` };
}

const NO_ROOM = Symbol('no room');

interface Cut {
  readonly items: number;
  /** Remaining bytes while the value is copied; the copy stops at zero. */
  readonly room: { bytes: number };
  readonly keys: (value: object) => readonly string[];
  /** What was cut, in words. */
  readonly were: Set<string>;
}

function shorten(value: unknown, cut: Cut): unknown {
  const { items, room, keys, were } = cut;
  const most = items * PER_ITEM;
  if (typeof value !== 'object' || value === null) {
    const short = typeof value === 'string' ? value.slice(0, most) : value;
    if (short !== value) were.add(`texts to ${most} characters`);
    return take(room, JSON.stringify(short)) ? short : NO_ROOM;
  }
  if (!take(room, '{}')) return NO_ROOM;
  const isList = Array.isArray(value);
  const all: readonly unknown[] = isList ? value : keys(value);
  const kept = all.slice(0, isList ? items : most);
  if (kept.length < all.length) were.add(isList ? `lists to ${items} items` : `objects to ${most} keys`);
  const parts: [string, unknown][] = [];
  for (const [place, key] of kept.entries()) {
    const name = isList ? String(place) : String(key);
    if (!take(room, isList ? ',' : `${JSON.stringify(name)}:,`)) return NO_ROOM;
    const part = shorten(Reflect.get(value, name), cut);
    if (part === NO_ROOM) return NO_ROOM;
    parts.push([name, part]);
  }
  return isList ? parts.map(([, part]) => part) : Object.fromEntries(parts);
}

function take(room: Cut['room'], text: string): boolean {
  room.bytes -= Buffer.byteLength(text);
  return room.bytes >= 0;
}

/** Cuts by bytes as JSON, where a character may take up to six; never within a character. */
function cutText(text: string, maxBytes: number): string {
  const cut = (bytes: number) => new TextDecoder().decode(Buffer.from(text).subarray(0, bytes), { stream: true });
  let short = cut(maxBytes);
  for (let over = 1; short !== ''; short = cut(Math.floor(Buffer.byteLength(short) / over))) {
    over = Buffer.byteLength(JSON.stringify(short)) / maxBytes;
    if (over <= 1) return short;
  }
  return short;
}

// Shortens content blocks to their limit. Texts are cut. Base64 data (images, audio, files) stays whole or is replaced
// by a text, so that no model reads it as words.

interface Media {
  readonly mimeType: string;
  readonly base64: string;
}

/** The block with the size of its data in place of the data. */
export function describeBlock(block: ContentBlock): ContentBlock {
  const media = mediaOf(block);
  if (!media) return block;
  const bytes = bytesOf(media);
  const { data: _, resource, ...rest } = block;
  if (!isObject(resource)) return { ...rest, bytes };
  const { blob: _blob, ...about } = resource;
  return { ...rest, resource: { ...about, bytes } };
}

interface CappedContent {
  readonly content: readonly ContentBlock[];
  readonly notes: readonly string[];
}

export function capContent(
  blocks: readonly ContentBlock[],
  { maxOutputBytes, maxMediaBytes }: Pick<ToolLimits, 'maxOutputBytes' | 'maxMediaBytes'>,
): CappedContent {
  const room = { words: maxOutputBytes, media: maxMediaBytes };
  const content: ContentBlock[] = [];
  let leftOut = 0;
  let isCut = false;
  const keep = (block: ContentBlock): boolean => {
    const media = mediaOf(block)?.base64.length ?? 0;
    const words = Buffer.byteLength(JSON.stringify(block)) - media;
    if (media > room.media || words > room.words) return false;
    room.media -= media;
    room.words -= words;
    return content.push(block) > 0;
  };
  for (const block of blocks) {
    if (keep(block)) continue;
    if (block.type === 'text') {
      isCut = true;
      keep({ type: 'text', text: cutText(String(block.text), Math.max(0, room.words - FORM_BYTES)) });
    } else {
      leftOut += 1;
      keep({ type: 'text', text: `(${nameOf(block)}: left out, it is too large)` });
    }
  }
  const notes = [
    ...(isCut ? [`Texts of the result were cut to ${maxOutputBytes} bytes together (limit maxOutputBytes).`] : []),
    ...(leftOut > 0 ? [leftOutNote(leftOut, { maxOutputBytes, maxMediaBytes })] : []),
  ];
  return { content, notes };
}

function leftOutNote(count: number, limits: Pick<ToolLimits, 'maxOutputBytes' | 'maxMediaBytes'>): string {
  const { maxMediaBytes, maxOutputBytes } = limits;
  const which = `${maxMediaBytes} bytes of base64 (limit maxMediaBytes) and ${maxOutputBytes} of all else (limit maxOutputBytes)`;
  return `${count} of the blocks of the result were left out: together they may have ${which}.`;
}

/** JSON overhead of a text block. */
const FORM_BYTES = Buffer.byteLength(JSON.stringify({ type: 'text', text: '' })) - 2;

function nameOf(block: ContentBlock): string {
  const media = mediaOf(block);
  return media ? `${media.mimeType}, ${Math.ceil(bytesOf(media) / 1000)} kB` : block.type;
}

function mediaOf({ data, mimeType, resource }: ContentBlock): Media | undefined {
  const held = isObject(resource) ? { base64: resource.blob, mimeType: resource.mimeType } : { base64: data, mimeType };
  if (typeof held.base64 !== 'string') return undefined;
  return { base64: held.base64, mimeType: String(held.mimeType ?? 'application/octet-stream').slice(0, 80) };
}

function bytesOf({ base64 }: Media): number {
  return Buffer.byteLength(base64, 'base64');
}
