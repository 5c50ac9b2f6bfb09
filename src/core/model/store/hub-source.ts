/**
 * The file from its hub by HTTP. Continues by Range; If-Range with the ETag of the first answer makes the
 * hub send the whole file when it has changed in between.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { z } from 'zod';
import { WinnowError } from '../../errors.js';
import type { ModelEntry } from './manifest.js';
import type { PartialFile } from './partial-file.js';
import type { Continuation, Source } from './source.js';
import { networkFault, SourceFault, statusFault } from './source-fault.js';
import { createWatchdog } from './watchdog.js';

export interface HubOptions {
  fetch: typeof globalThis.fetch;
  /** Longest time without a byte, also before the first one. */
  stallTimeoutInMs: number;
}

const stateSchema = z.object({ url: z.string(), etag: z.string() });

export function createHubSource(model: ModelEntry, { fetch, stallTimeoutInMs }: HubOptions): Source {
  return {
    id: 'hub',
    title: `hub ${new URL(model.hub).host}`,
    async fill({ partial, signal, onBytes, onNotice }) {
      const watchdog = createWatchdog(stallTimeoutInMs, signal);
      try {
        const body = await openBody(model, { partial, fetch, signal: watchdog.signal, onNotice });
        for await (const chunk of body) {
          if (partial.bytes + chunk.length > model.bytes) throw new SourceFault('unusable', 'the file is too long');
          await partial.append(chunk);
          watchdog.touch();
          onBytes(partial.bytes);
        }
      } catch (error) {
        if (error instanceof WinnowError) throw error;
        signal?.throwIfAborted();
        const reason = watchdog.signal.aborted ? watchdog.signal.reason : error;
        throw reason instanceof SourceFault ? reason : networkFault(reason);
      } finally {
        watchdog.stop();
      }
      if (partial.bytes < model.bytes) {
        throw new SourceFault('failed', `the connection ended after ${partial.bytes} of ${model.bytes} bytes`);
      }
    },
  };
}

interface BodyRequest extends Pick<Continuation, 'partial' | 'onNotice'> {
  fetch: typeof globalThis.fetch;
  signal: AbortSignal;
}

/** The bytes that follow on those of the partial file, which is emptied when the hub starts over. */
async function openBody(model: ModelEntry, request: BodyRequest): Promise<AsyncIterable<Uint8Array>> {
  const { partial, fetch, signal, onNotice } = request;
  const start = partial.bytes;
  const etag = start > 0 ? await readEtag(partial, model.hub) : undefined;
  const headers = {
    'accept-encoding': 'identity',
    ...(start > 0 ? { range: `bytes=${start}-` } : {}),
    ...(etag === undefined ? {} : { 'if-range': etag }),
  };
  const response = await fetch(model.hub, { headers, signal });
  const answer = judge(response, { start, etag, bytes: model.bytes });
  if (answer !== 'continues') {
    onNotice(`The hub does not continue the file at byte ${start}: starting over.`);
    await partial.startOver();
  }
  if (answer === 'mismatch') return openBody(model, request);
  if (!response.body) throw new SourceFault('failed', 'the answer has no body');
  await writeEtag(partial, model.hub, response.headers.get('etag'));
  return response.body;
}

/** `whole`: from byte 0 though a later one was asked for. `mismatch`: bytes that do not follow on ours. */
type Answer = 'continues' | 'whole' | 'mismatch';

function judge(response: Response, expected: { start: number; etag: string | undefined; bytes: number }): Answer {
  const { start, etag, bytes } = expected;
  const { status, headers } = response;
  if (status === 416 && start > 0) return 'mismatch';
  if (!response.ok) throw statusFault(status);
  if (headers.get('content-type')?.startsWith('text/html')) {
    throw new SourceFault('unusable', 'a web page came in place of the file');
  }
  const range = /^bytes (\d+)-\d+\/(\d+)$/.exec(headers.get('content-range') ?? '');
  const size = status === 206 ? range?.[2] : headers.get('content-length');
  if (size && Number(size) !== bytes) {
    throw new SourceFault('unusable', `it has a file of ${size} bytes instead of ${bytes}`);
  }
  if (status !== 206) return start > 0 ? 'whole' : 'continues';
  const isSameFile = etag === undefined || headers.get('etag') === etag;
  if (isSameFile && Number(range?.[1]) === start) return 'continues';
  if (start > 0) return 'mismatch';
  throw new SourceFault('unusable', 'a part of the file came that was not asked for');
}

async function readEtag(partial: PartialFile, url: string): Promise<string | undefined> {
  try {
    const state = stateSchema.parse(JSON.parse(await readFile(hubStatePath(partial.path), 'utf8')));
    return state.url === url ? state.etag : undefined;
  } catch {
    // Without it the checksum at the end is what tells that the file has changed.
    return undefined;
  }
}

/** Weak ETags do not promise the same bytes, and If-Range does not take them. */
async function writeEtag(partial: PartialFile, url: string, etag: string | null): Promise<void> {
  if (!etag || etag.startsWith('W/')) return;
  await writeFile(hubStatePath(partial.path), `${JSON.stringify({ url, etag })}\n`);
}

export function hubStatePath(partialPath: string): string {
  return `${partialPath}.json`;
}
