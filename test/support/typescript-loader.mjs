/**
 * For `node --import`: lets a child process of a test run `src` as it is, without a build. A `.js` that is not there
 * is looked for as `.ts`, and types are stripped.
 */
import { readFile } from 'node:fs/promises';
import { register } from 'node:module';
import { isMainThread } from 'node:worker_threads';
import { transform } from '@swc/core';

if (isMainThread) register(import.meta.url);

const OPTIONS = {
  jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
  module: { type: 'es6' },
  sourceMaps: 'inline',
};
const isOwn = (url) => url?.startsWith('file:') && !url.includes('/node_modules/');

export function resolve(specifier, context, next) {
  const isSource = specifier.startsWith('.') && isOwn(context.parentURL) && context.parentURL.endsWith('.ts');
  return next(isSource ? specifier.replace(/\.js$/u, '.ts') : specifier, context);
}

export async function load(url, context, next) {
  if (!isOwn(url) || !url.endsWith('.ts')) return next(url, context);
  const { code } = await transform(await readFile(new URL(url), 'utf8'), { ...OPTIONS, filename: url });
  return { format: 'module', source: code, shortCircuit: true };
}
