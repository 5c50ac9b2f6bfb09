/** Reads files and JSON that flags and arguments name. */
import { readFile } from 'node:fs/promises';
import { messageOf, WinnowError } from '../core/errors.js';

/** `-` is stdin. */
export async function readText(path: string): Promise<string> {
  if (path !== '-') return readFile(path, 'utf8');
  const parts: Buffer[] = [];
  for await (const part of process.stdin) parts.push(Buffer.from(part));
  return Buffer.concat(parts).toString('utf8');
}

/** @param what begins the message, such as `The plan`; `-` is stdin. @throws WinnowError `invalid_option` */
export async function readJson(what: string, file: string): Promise<unknown> {
  const text = await readText(file).catch((cause) => {
    throw new WinnowError('invalid_option', `${what} ${file} can't be read: ${messageOf(cause)}`, { cause });
  });
  return parseJson(text, `${what} ${file} is`);
}

/** @param what begins the message, such as `The request is`. @throws WinnowError `invalid_option` */
export function parseJson(text: string, what: string): unknown {
  try {
    // `trim` also removes a byte order mark.
    return JSON.parse(text.trim());
  } catch (cause) {
    throw new WinnowError('invalid_option', `${what} not JSON: ${messageOf(cause)}`, { cause });
  }
}

/** Parses `--arguments`. @throws WinnowError `invalid_option` */
export function parseArguments(given: string): Record<string, unknown> {
  const parsed = parseJson(given, '--arguments:');
  if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)) return { ...parsed };
  throw new WinnowError('invalid_option', '--arguments: write a JSON object, such as {"path": "a.txt"}.');
}
