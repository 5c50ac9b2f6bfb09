/**
 * The files of web pages as texts: Winnow's own, and the browser builds of their libraries. There is no bundler: modules
 * run in the browser unchanged.
 */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { messageOf, WinnowError } from '../core/errors.js';

/** The build leaves pages in `src`, next to `dist`. */
export const SOURCE_FOLDER = '../../src/';

/** A library -> its browser file, relative to its main file; if that exports nothing, its global value and the names that pages use. */
export const LIBRARIES = {
  'lit-html': { file: '../lit-html.js' },
  '@dagrejs/dagre': { file: './dagre.esm.js' },
  diff: { file: '../dist/diff.min.js', value: 'globalThis.Diff', names: ['diffLines', 'diffWordsWithSpace'] },
} as const;

/** @param path below `src`. @throws WinnowError `internal` if it is missing */
export function readPageFile(path: string): Promise<string> {
  return readText(new URL(path, new URL(SOURCE_FOLDER, import.meta.url)), path);
}

/** Without the link to its source map, which a browser would request. @throws WinnowError `internal` if it is missing */
export async function readLibrary(name: keyof typeof LIBRARIES): Promise<string> {
  const { resolve } = createRequire(import.meta.url);
  const text = await readText(new URL(LIBRARIES[name].file, pathToFileURL(resolve(name))), name);
  return text.replace(/^\/\/# source.*$/gmu, '');
}

async function readText(url: URL, name: string): Promise<string> {
  try {
    return await readFile(url, 'utf8');
  } catch (cause) {
    const message = `A page lacks its file ${name} (${messageOf(cause)}): install the package again.`;
    throw new WinnowError('internal', message, { cause });
  }
}
