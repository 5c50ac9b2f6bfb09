/** Text of a file or URL. Whatever goes wrong is a `source_failed` that names the place and what to do. */
import { readFile } from 'node:fs/promises';
import { messageOf, throwIfCancelled, WinnowError } from '../../errors.js';
import { describeSource, isUrl, type ReadContext } from './source.js';

/** @throws WinnowError `source_failed`, `cancelled` */
export async function readText(location: string, context: ReadContext): Promise<string> {
  throwIfCancelled(context.signal);
  const text = isUrl(location) ? await fetchText(location, context) : await readTextFile(location, context);
  return text.replace(/^\uFEFF/, '');
}

/** @throws WinnowError `source_failed` with the parser's own words. */
export function parseJson(text: string, location: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const advice = 'Correct it, or tell its kind by a prefix: json:, openapi:, mcp: or skills:';
    throw sourceFailed(location, `is not JSON (${reasonOf(error)}). ${advice}`, error);
  }
}

/** JSON where it looks like JSON, since that is many times faster, else YAML. Errors as for `parseJson`. */
export async function parseJsonOrYaml(text: string, location: string): Promise<unknown> {
  if (text.trimStart().startsWith('{')) return parseJson(text, location);
  // Most catalogues are JSON: they need not wait for it.
  const { parse } = await import('yaml');
  try {
    return parse(text);
  } catch (error) {
    throw sourceFailed(location, `is not YAML (${reasonOf(error)}). Correct it`, error);
  }
}

/** `what` follows the source's name, and ends with what to do. */
export function sourceFailed(location: string, what: string, cause?: unknown): WinnowError {
  const source = describeSource(location);
  return new WinnowError('source_failed', `The source ${source} ${what}.`, { cause, details: { source } });
}

/** What was thrown, for the middle of a sentence. */
export function reasonOf(error: unknown): string {
  return messageOf(error).trim().replace(/\.$/, '');
}

async function readTextFile(path: string, { signal }: ReadContext): Promise<string> {
  try {
    return await readFile(path, { encoding: 'utf8', signal });
  } catch (error) {
    throwIfCancelled(signal);
    throw sourceFailed(path, `can't be read (${reasonOf(error)}). Check the path and its permissions`, error);
  }
}

async function fetchText(url: string, { timeoutMs, signal }: ReadContext): Promise<string> {
  const timeout = AbortSignal.timeout(timeoutMs);
  try {
    const response = await fetch(url, { signal: AbortSignal.any(signal ? [timeout, signal] : [timeout]) });
    if (!response.ok) throw new Error(`HTTP ${response.status}`);
    return await response.text();
  } catch (error) {
    throwIfCancelled(signal);
    const what = timeout.aborted ? `did not answer within ${timeoutMs} ms` : `can't be fetched (${fetchReason(error)})`;
    throw sourceFailed(url, `${what}. Check the URL and that its server runs`, error);
  }
}

/** `fetch` says only "fetch failed"; the reason is in its cause. */
export function fetchReason(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : undefined;
  return cause ? `${reasonOf(error)}: ${reasonOf(cause)}` : reasonOf(error);
}
