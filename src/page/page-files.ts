/**
 * The files of web pages, as texts: those of Winnow's own, and what their libraries have for browsers. No bundler is
 * between: a module runs in the browser as it is written.
 */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { messageOf, WinnowError } from '../core/errors.js';

/** The build leaves pages in `src`, which lies beside `dist`. */
export const SOURCE_FOLDER = '../../src/';

/** A library -> its file for browsers, from its main file; where that file exports nothing, its value and the names in it that pages use. */
export const LIBRARIES = {
  'lit-html': { file: '../lit-html.js' },
  '@dagrejs/dagre': { file: './dagre.esm.js' },
  diff: { file: '../dist/diff.min.js', value: 'globalThis.Diff', names: ['diffLines', 'diffWordsWithSpace'] },
} as const;

/** @param path below `src`. @throws WinnowError `internal` where it is missing */
export function readPageFile(path: string): Promise<string> {
  return readText(new URL(path, new URL(SOURCE_FOLDER, import.meta.url)), path);
}

/** Without the place of its sources, which a browser would ask for. @throws WinnowError `internal` where it is missing */
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
