/**
 * Whether a file is the one of the manifest. Hashing a gigabyte takes seconds, so a file that passed gets a
 * sidecar `.verified`; it holds as long as size and time of the file stay as they were.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import { z } from 'zod';
import { throwIfCancelled } from '../../errors.js';
import { codeOf } from './error-facts.js';
import type { ModelEntry } from './manifest.js';

const sidecarSchema = z.object({ sha256: z.string(), bytes: z.number(), mtimeMs: z.number() });

export type FileCheck = { ok: true } | { ok: false; issue: string };

/** The quick check: size and sidecar, no hashing. */
export async function isVerified(path: string, model: ModelEntry): Promise<boolean> {
  const facts = await statOf(path);
  const sidecar = await readSidecar(path);
  return (
    facts !== undefined &&
    sidecar?.sha256 === model.sha256 &&
    sidecar.bytes === facts.size &&
    sidecar.mtimeMs === facts.mtimeMs
  );
}

/** The full check. Renews the sidecar, or takes it away; never the file itself. */
export async function checkFile(path: string, model: ModelEntry, signal?: AbortSignal | undefined): Promise<FileCheck> {
  const bytes = (await statOf(path))?.size;
  const sha256 = bytes === model.bytes ? await hashFile(path, signal) : undefined;
  if (sha256 === model.sha256) {
    await markVerified(path, sha256);
    return { ok: true };
  }
  await rm(sidecarOf(path), { force: true });
  if (bytes === undefined) return { ok: false, issue: 'there is no file' };
  if (sha256 === undefined) return { ok: false, issue: `${bytes} bytes instead of ${model.bytes}` };
  return { ok: false, issue: wrongChecksum(sha256, model) };
}

export function wrongChecksum(sha256: string, model: ModelEntry): string {
  return `wrong checksum: SHA-256 ${sha256} instead of ${model.sha256}`;
}

/** To be called only for a file that was hashed. A folder that can't be written costs a hashing each time. */
export async function markVerified(path: string, sha256: string): Promise<void> {
  const { size, mtimeMs } = await stat(path);
  try {
    await writeFile(sidecarOf(path), `${JSON.stringify({ sha256, bytes: size, mtimeMs })}\n`);
  } catch (error) {
    if (!['EACCES', 'EPERM', 'EROFS'].includes(codeOf(error) ?? '')) throw error;
  }
}

/** Size of a file in bytes and time of its last change; undefined where there is none. */
export async function statOf(path: string): Promise<{ size: number; mtimeMs: number } | undefined> {
  try {
    return await stat(path);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

async function hashFile(path: string, signal: AbortSignal | undefined): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20 })) {
    throwIfCancelled(signal);
    hash.update(chunk);
  }
  return hash.digest('hex');
}

async function readSidecar(path: string): Promise<z.infer<typeof sidecarSchema> | undefined> {
  try {
    return sidecarSchema.parse(JSON.parse(await readFile(sidecarOf(path), 'utf8')));
  } catch {
    // Missing or torn: the file is hashed again, which is always right.
    return undefined;
  }
}

function sidecarOf(path: string): string {
  return `${path}.verified`;
}
