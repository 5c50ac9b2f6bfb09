/** The source files of `src` and what each imports, read as text: no compiler is needed to hold the table of imports. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';

export interface SourceFile {
  /** Below `src`, for example `catalog/tool.ts`. */
  readonly path: string;
  readonly text: string;
  /** Without comments and the content of strings. */
  readonly code: string;
  /** Files of `src`, also those of which only types are used. */
  readonly imports: readonly string[];
  /** Packages, for example `@langchain/openai` or `ajv`; without Node's own. */
  readonly packages: readonly string[];
  /** Files and packages that are loaded together with it: no types alone, and nothing that it loads when it needs it. */
  readonly loads: readonly string[];
}

export function readSources(folder = 'src'): SourceFile[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => name.replaceAll('\\', '/'));
  return names
    .filter((name) => name.endsWith('.ts'))
    .sort()
    .map((path) => toSourceFile(path, readFileSync(join(folder, path), 'utf8')));
}

export function toSourceFile(path: string, text: string): SourceFile {
  const read = (forms: readonly RegExp[]) => {
    const named = importsOf(text, forms);
    const isOwn = (name: string) => name.startsWith('.');
    const imports = named.filter(isOwn).map((name) => posix.join(posix.dirname(path), name).replace(/\.js$/u, '.ts'));
    const packages = named.filter((name) => !isOwn(name) && !name.startsWith('node:')).map(packageOf);
    return { imports: [...new Set(imports)], packages: [...new Set(packages)] };
  };
  const atOnce = read([VALUES, BARE]);
  return { path, text, code: codeOf(text), ...read([STATEMENT, BARE, INLINE]), loads: Object.values(atOnce).flat() };
}

const STATEMENT = /^\s*(?:import|export)\b[^'"`;]*?\bfrom\s*['"]([^'"]+)['"]/gmu;
const VALUES = /^\s*(?:import|export)\b(?!\s*type\b)[^'"`;]*?\bfrom\s*['"]([^'"]+)['"]/gmu;
const BARE = /^\s*import\s*['"]([^'"]+)['"]/gmu;
const INLINE = /\bimport\(\s*['"]([^'"]+)['"]\s*\)/gu;

function importsOf(text: string, forms: readonly RegExp[]): string[] {
  const code = text.replace(/\/\*[\s\S]*?\*\//gu, '').replace(/^\s*\/\/.*$/gmu, '');
  return forms.flatMap((form) => [...code.matchAll(form)].map((match) => match[1] ?? ''));
}

function codeOf(text: string): string {
  const word = /\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"/gu;
  return text.replace(word, (found) => (found.startsWith('/') ? ' ' : "''"));
}

function packageOf(name: string): string {
  return name
    .split('/')
    .slice(0, name.startsWith('@') ? 2 : 1)
    .join('/');
}

/** All packages that are loaded with a file, by way of whatever files. */
export function packagesLoadedWith(path: string, files: readonly SourceFile[]): string[] {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const seen = new Set([path]);
  for (const one of seen) for (const next of byPath.get(one)?.loads ?? []) seen.add(next);
  return [...seen].filter((one) => !byPath.has(one)).sort();
}

/** The first ways round, each as the files on it; a file that imports itself is one too. */
export function findCycles(files: readonly SourceFile[]): string[] {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const done = new Set<string>();
  const cycles: string[] = [];
  const visit = (path: string, way: readonly string[]): void => {
    const start = way.indexOf(path);
    if (start >= 0) cycles.push([...way.slice(start), path].join(' -> '));
    if (start >= 0 || done.has(path)) return;
    for (const next of byPath.get(path)?.imports ?? []) visit(next, [...way, path]);
    done.add(path);
  };
  for (const { path } of files) visit(path, []);
  return cycles;
}
