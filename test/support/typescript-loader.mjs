/**
 * For `node --import`: lets a child process of a test run `src` as it is, without a build. A `.js` that is not there
 * is looked for as `.ts`, and types are stripped; what came of a file is kept beside the packages, by its content.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { register } from 'node:module';
import { fileURLToPath } from 'node:url';
import { isMainThread } from 'node:worker_threads';

if (isMainThread) register(import.meta.url);

const OPTIONS = {
  jsc: { parser: { syntax: 'typescript' }, target: 'es2022', experimental: { keepImportAttributes: true } },
  module: { type: 'es6' },
  sourceMaps: 'inline',
};
const COMPILER = readFileSync(new URL('../../node_modules/@swc/core/package.json', import.meta.url), 'utf8');
const CACHE = new URL('../../node_modules/.cache/winnow-typescript/', import.meta.url);
const isOwn = (url) => url?.startsWith('file:') && !url.includes('/node_modules/');

export function resolve(specifier, context, next) {
  const isSource = specifier.startsWith('.') && isOwn(context.parentURL) && context.parentURL.endsWith('.ts');
  return next(isSource ? specifier.replace(/\.js$/u, '.ts') : specifier, context);
}

/** Files are read at once: these hooks have a thread of their own, and promises of so many small files cost more. */
export async function load(url, context, next) {
  if (!isOwn(url) || !url.endsWith('.ts')) return next(url, context);
  const text = readFileSync(new URL(url), 'utf8');
  const hash = createHash('sha256').update(JSON.stringify([COMPILER, OPTIONS, url, text]));
  const place = new URL(`${hash.digest('hex')}.js`, CACHE);
  const known = existsSync(place) ? readFileSync(place, 'utf8') : undefined;
  const source = known ?? (await stripTypes(text, url));
  if (known === undefined) keep(place, source);
  return { format: 'module', source, shortCircuit: true };
}

/** The compiler is loaded only where there is something to compile. */
async function stripTypes(text, filename) {
  const { transform } = await import('@swc/core');
  return (await transform(text, { ...OPTIONS, filename })).code;
}

/** Several processes may write one file at a time. What can't be kept is made anew. */
function keep(place, source) {
  const unfinished = `${fileURLToPath(place)}.${process.pid}`;
  try {
    mkdirSync(CACHE, { recursive: true });
    writeFileSync(unfinished, source);
    renameSync(unfinished, place);
  } catch {
    // A folder that can't be written to costs time and nothing else.
  }
}
