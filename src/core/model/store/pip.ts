/**
 * Fetches one wheel with the user's own pip, so that index, mirror, proxy, credentials and time-outs are
 * those that pip is configured with. Wheels only and no dependencies: nothing of a package is ever run.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { messageOf } from '../../errors.js';
import { codeOf, fieldOf } from './error-facts.js';
import { SourceFault } from './source-fault.js';

export interface PackageRequest {
  name: string;
  version: string;
  /** An empty folder, into which the wheel goes. */
  folder: string;
  signal?: AbortSignal | undefined;
}

export type DownloadPackage = (request: PackageRequest) => Promise<void>;

export const PYTHONS: readonly string[] = process.platform === 'win32' ? ['py', 'python'] : ['python3', 'python'];
const run = promisify(execFile);

/** @throws SourceFault with pip's own last word. */
export async function downloadWithPip(request: PackageRequest, pythons = PYTHONS): Promise<void> {
  const { name, version, folder, signal } = request;
  const options = ['--quiet', '--no-input', '--disable-pip-version-check', '--progress-bar', 'off'];
  const wanted = ['--no-deps', '--no-cache-dir', '--only-binary', ':all:', '--dest', folder, `${name}==${version}`];
  for (const python of pythons) {
    try {
      await run(python, ['-m', 'pip', 'download', ...options, ...wanted], { signal, windowsHide: true });
      return;
    } catch (error) {
      signal?.throwIfAborted();
      if (!isMissing(error)) throw pipFault(stderrOf(error));
    }
  }
  throw new SourceFault('unusable', `Python with pip is not installed (tried ${pythons.join(', ')})`);
}

const MAX_MESSAGE = 400;
const TIME_OUT = /timed? ?out/i;
const REFUSAL =
  /refused|name or service not known|name resolution|getaddrinfo|HTTP error 4\d\d|Forbidden|No matching distribution/i;

/** pip has one exit code for everything, so the kind is read from what it wrote. Credentials in URLs are taken out. */
export function pipFault(stderr: string): SourceFault {
  const text = stderr.replace(/\/\/[^/@\s]+@/g, '//');
  const lines = text.split('\n').map((line) => line.trim());
  const error = lines.findLast((line) => line.startsWith('ERROR:')) ?? lines.findLast(Boolean) ?? 'pip failed';
  const cause = /connection broken by '(.*)': \//.exec(text)?.[1]?.replace(/<[^>]*>[:,]? ?/g, '');
  const message = [error.replace(/^ERROR:\s*/, ''), ...(cause ? [cause] : [])].join(': ').slice(0, MAX_MESSAGE);
  if (TIME_OUT.test(text)) return new SourceFault('timed out', message);
  return new SourceFault(REFUSAL.test(text) ? 'refused' : 'failed', message);
}

function isMissing(error: unknown): boolean {
  return codeOf(error) === 'ENOENT' || /No module named '?pip/.test(stderrOf(error));
}

function stderrOf(error: unknown): string {
  const stderr = fieldOf(error, 'stderr');
  return typeof stderr === 'string' ? stderr : messageOf(error);
}
